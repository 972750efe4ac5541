"""What the operating system must provide: a table with a probe for each entry, and its installation
by apt.

Invariant: a thing counts as present when the program or library itself is found, wherever it came
from. Nothing that is present is installed again, so a complete machine needs no network.
"""

import ctypes
import importlib.util
import os
import shutil
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from installer.commands import Cause, SetupError, run, say, succeeds
from installer.plan import Goal


@dataclass(frozen=True)
class Need:
    """Something the system provides: how to detect it, and the packages that contain it."""

    probe: str  # 'libX.so.1', program 'Xvfb', 'import ensurepip', or files '/usr/*/a|/opt/a'
    apt: str
    dnf: str
    pacman: str


# Exactly the libraries that readelf lists for PySide6 6.11's platform plugins and PortAudio's
# loader. apt resolves virtual names (Debian 13 renamed libglib2.0-0).
WINDOW_AND_SOUND = (
    Need("libportaudio.so.2", "libportaudio2", "portaudio", "portaudio"),
    Need("libEGL.so.1", "libegl1", "libglvnd-egl", "libglvnd"),
    Need("libGL.so.1", "libgl1", "libglvnd-glx", "libglvnd"),
    Need("libglib-2.0.so.0", "libglib2.0-0", "glib2", "glib2"),
    Need("libgssapi_krb5.so.2", "libgssapi-krb5-2", "krb5-libs", "krb5"),  # QtNetwork, on Debian 13
    Need("libdbus-1.so.3", "libdbus-1-3", "dbus-libs", "dbus"),
    Need("libfontconfig.so.1", "libfontconfig1", "fontconfig", "fontconfig"),
    Need("libfreetype.so.6", "libfreetype6", "freetype", "freetype2"),
    Need("libX11.so.6", "libx11-6", "libX11", "libx11"),
    Need("libX11-xcb.so.1", "libx11-xcb1", "libX11-xcb", "libx11"),
    Need("libxkbcommon.so.0", "libxkbcommon0", "libxkbcommon", "libxkbcommon"),
    Need("libxkbcommon-x11.so.0", "libxkbcommon-x11-0", "libxkbcommon-x11", "libxkbcommon-x11"),
    Need("libxcb-cursor.so.0", "libxcb-cursor0", "xcb-util-cursor", "xcb-util-cursor"),
    Need("libxcb-icccm.so.4", "libxcb-icccm4", "xcb-util-wm", "xcb-util-wm"),
    Need("libxcb-image.so.0", "libxcb-image0", "xcb-util-image", "xcb-util-image"),
    Need("libxcb-keysyms.so.1", "libxcb-keysyms1", "xcb-util-keysyms", "xcb-util-keysyms"),
    Need("libxcb-util.so.1", "libxcb-util1", "xcb-util", "xcb-util"),
    Need(
        "libxcb-render-util.so.0",
        "libxcb-render-util0",
        "xcb-util-renderutil",
        "xcb-util-renderutil",
    ),
    Need("libxcb-randr.so.0", "libxcb-randr0", "libxcb", "libxcb"),
    Need("libxcb-render.so.0", "libxcb-render0", "libxcb", "libxcb"),
    Need("libxcb-shape.so.0", "libxcb-shape0", "libxcb", "libxcb"),
    Need("libxcb-shm.so.0", "libxcb-shm0", "libxcb", "libxcb"),
    Need("libxcb-sync.so.1", "libxcb-sync1", "libxcb", "libxcb"),
    Need("libxcb-xfixes.so.0", "libxcb-xfixes0", "libxcb", "libxcb"),
    Need("libxcb-xkb.so.1", "libxcb-xkb1", "libxcb", "libxcb"),
)
QUESTION = (Need("flite", "flite", "flite", "flite"),)  # speaks the question of `make demo`
COMPILER = (
    Need("c++", "build-essential", "gcc-c++", "base-devel"),
    Need("make", "build-essential", "make", "base-devel"),
)
RIG = (  # a virtual display, desktop and sound card, and keys pressed on them
    Need("Xvfb", "xvfb", "xorg-x11-server-Xvfb", "xorg-server-xvfb"),
    Need("xauth", "xauth", "xorg-x11-xauth", "xorg-xauth"),  # xvfb-run refuses to start without
    Need("xdotool", "xdotool", "xdotool", "xdotool"),
    Need("openbox", "openbox", "openbox", "openbox"),  # window manager: grabs, tray
    Need("trayer", "trayer", "trayer", "trayer"),
    Need("dbus-daemon", "dbus-daemon", "dbus-daemon", "dbus"),  # a separate bus for the tests
    Need(  # the interface that screen readers use
        "/usr/libexec/at-spi-bus-launcher|/usr/lib/at-spi-bus-launcher",
        "at-spi2-core",
        "at-spi2-core",
        "at-spi2-core",
    ),
    Need("pulseaudio", "pulseaudio", "pulseaudio", "pulseaudio"),
    Need("strace", "strace", "strace", "strace"),  # shows that no program uses the network
    Need("pactl", "pulseaudio-utils", "pulseaudio-utils", "libpulse"),
    Need(
        "/usr/lib/*/alsa-lib/libasound_module_pcm_pulse.so|/usr/lib*/alsa-lib/"
        "libasound_module_pcm_pulse.so",
        "libasound2-plugins",
        "alsa-plugins-pulseaudio",
        "alsa-plugins",
    ),
)


def needs_of(goal: Goal) -> tuple[Need, ...]:
    """What this goal needs on Linux. Wheels for macOS and Windows include their libraries."""
    venv = f"python3.{sys.version_info[1]}-venv"  # Debian splits it off from Python
    environment = Need("import ensurepip", venv, "python3", "python")
    table: Mapping[Goal, tuple[Need, ...]] = {
        Goal.RUN: WINDOW_AND_SOUND,
        Goal.DEMO: WINDOW_AND_SOUND + QUESTION,
        Goal.LLM: WINDOW_AND_SOUND + COMPILER,
        Goal.TEST: WINDOW_AND_SOUND + QUESTION + COMPILER + RIG,
    }
    return (environment, *table[goal])


def is_there(need: Need) -> bool:
    probe = need.probe
    if probe.startswith("import "):
        return importlib.util.find_spec(probe.removeprefix("import ")) is not None
    if probe.startswith("/"):
        return any(any(Path("/").glob(pattern[1:])) for pattern in probe.split("|"))
    if ".so" in probe:
        try:
            ctypes.CDLL(probe)  # uses the loader itself, as the program will
        except OSError:
            return False
        return True
    return shutil.which(probe) is not None


def provide(goal: Goal, *, is_there: Callable[[Need], bool] = is_there) -> None:
    """Install what is missing, or say exactly what to install. SetupError when it is still
    missing."""
    if not sys.platform.startswith("linux"):
        return
    missing = [need for need in needs_of(goal) if not is_there(need)]
    if not missing:
        return
    prefix = as_root() if shutil.which("apt-get") else None
    if prefix is not None:
        packages = unique(need.apt for need in missing)
        say(f"  Installing system packages: {' '.join(packages)}")
        apt_install(prefix, packages)
        still = [need.apt for need in missing if not is_there(need)]
        if still:
            raise SetupError(f"These packages are installed but not usable: {' '.join(still)}.")
    elif goal is Goal.DEMO and set(missing) <= set(QUESTION):
        say("  flite is not installed: a voice that is harder to understand asks the question.")
    else:
        raise SetupError(by_hand(missing))


def as_root() -> list[str] | None:
    """The prefix that runs a command as root without a question; None: there is no way."""
    if os.geteuid() == 0:
        return []
    return ["sudo", "-n"] if succeeds(["sudo", "-n", "true"]) else None


def apt_install(prefix: Sequence[str], packages: Sequence[str]) -> None:
    apt = [*prefix, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-q"]
    apt += ["-o", "DPkg::Lock::Timeout=120"]  # a new machine may be updating itself
    try:
        run([*apt, "update"], doing="Reading the package lists")
    except SetupError as error:
        if error.cause is Cause.DISK:
            raise
        say("  The package lists are not fresh; trying with what is there.")
    run(
        [*apt, "install", "-y", "--no-install-recommends", *packages],
        doing="Installing system packages",
    )


def by_hand(missing: Sequence[Need]) -> str:
    """The command that the person must run, for this system's package manager."""
    lines = {
        "apt-get": "sudo apt-get install " + " ".join(unique(need.apt for need in missing)),
        "dnf": "sudo dnf install " + " ".join(unique(need.dnf for need in missing)),
        "pacman": "sudo pacman -S --needed " + " ".join(unique(need.pacman for need in missing)),
    }
    for manager, line in lines.items():
        if shutil.which(manager):
            return f"Some system packages are missing. Run\n\n  {line}\n\nand then this again."
    things = ", ".join(need.probe for need in missing)
    return f"Some things are missing that your system must provide: {things}."


def unique(names: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(names))
