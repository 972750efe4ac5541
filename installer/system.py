"""The requirements on the operating system (needs.toml): a probe for each, and installation by apt.

Invariant: a requirement counts as present if the program or library itself is found, whatever its
source. Nothing that is present is installed again, so a complete machine needs no network.
"""

import ctypes
import importlib.util
import os
import shutil
import sys
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from installer.commands import Cause, SetupError, run, say, succeeds
from installer.plan import Goal


@dataclass(frozen=True)
class Need:
    """A requirement on the system: how to detect it, and the packages that contain it."""

    probe: str  # 'libX.so.1', program 'Xvfb', 'import ensurepip', or files '/usr/*/a|/opt/a'
    apt: str
    dnf: str
    pacman: str


_TABLE = tomllib.loads(Path(__file__).with_name("needs.toml").read_text(encoding="utf-8"))
WINDOW_AND_SOUND, QUESTION, COMPILER, RIG = (
    tuple(Need(*row) for row in _TABLE[purpose])
    for purpose in ("window_and_sound", "question", "compiler", "rig")
)


def needs_of(goal: Goal) -> tuple[Need, ...]:
    """Return a goal's needs on Linux. Wheels for macOS and Windows include their libraries."""
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
    """Install missing packages, or say what to install. SetupError if something stays missing."""
    if not sys.platform.startswith("linux"):
        return
    missing = [need for need in needs_of(goal) if not is_there(need)]
    if not missing:
        return
    prefix = as_root() if shutil.which("apt-get") else None
    if prefix is not None:
        packages = list(dict.fromkeys(need.apt for need in missing))
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
    """Return the prefix that runs a command as root without a question; None if impossible."""
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
        say("  The package lists could not be updated; trying the old ones.")
    run(
        [*apt, "install", "-y", "--no-install-recommends", *packages],
        doing="Installing system packages",
    )


def by_hand(missing: Sequence[Need]) -> str:
    """Return the command that the user must run, for this system's package manager."""
    packages = {
        "apt-get install": [need.apt for need in missing],
        "dnf install": [need.dnf for need in missing],
        "pacman -S --needed": [need.pacman for need in missing],
    }
    for command, names in packages.items():
        if shutil.which(command.split()[0]):
            line = f"sudo {command} {' '.join(dict.fromkeys(names))}"
            return f"Some system packages are missing. Run\n\n  {line}\n\nand then this again."
    things = ", ".join(need.probe for need in missing)
    return f"Your system lacks: {things}."
