"""Bring .venv to a goal of setup: the pinned packages, the torch that fits this machine, Rubato.

Invariant: every installed file is checked against its pinned hash, torch included, whose build
depends on the hardware. Only llama-cpp-python is compiled, and only on request. A note says that
packages are being installed before they are. So the next setup notices one that was interrupted,
and creates .venv again instead of trusting it.
"""

import hashlib
import json
import os
import platform
import shutil
import sys
import tempfile
import venv
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from app import desktop_entry
from installer import system
from installer.bootstrap import payload
from installer.bootstrap.paths import lock, write_atomically
from installer.bootstrap.payload import Variant, fitting_variant, torch_pins
from installer.commands import (
    Cause,
    SetupError,
    ends_well,
    index_settings,
    run,
    say,
    succeeds,
)
from installer.plan import OLDEST, PINS, ROOT, TOO_NEW, TORCH, VENV, Goal

NOTE: Final = "rubato-setup.json"
# These happen before uv installs the first file, so the environment is unchanged.
HARMLESS: Final = (Cause.NETWORK, Cause.COMPILER, Cause.HASH, Cause.PLATFORM)
# Portable code: a wheel built here (uv keeps it) also runs on another machine of these 12 years.
AVX2: Final = "-DGGML_AVX2=ON -DGGML_FMA=ON -DGGML_F16C=ON"
NO_AVX2: Final = "-DGGML_AVX=OFF -DGGML_AVX2=OFF -DGGML_FMA=OFF -DGGML_F16C=OFF -DGGML_BMI2=OFF"
HASHED: Final = ("--no-deps", "--require-hashes")  # nothing is resolved
SHOW_TORCH: Final = (
    "import torch; print('torch', torch.__version__, 'on', "
    "torch.cuda.get_device_name() if torch.cuda.is_available() else 'the CPU')"
)
EARS: Final = "whisper-base"
# The models that the first `make run` fetches, each with its title and the fallback.
OFFERS: Final = {
    EARS: (
        "Whisper, the recogniser that understands people: 148 MB, once",
        "the built-in recogniser listens, which knows short commands best",
    ),
    "kokoro": (
        "Kokoro, a natural voice: 111 MB, once",
        "the built-in voice speaks, which is understood less well",
    ),
}


@dataclass
class Environment:
    """.venv and its note. `done`: the key of each file that was installed from, and the offered
    models; `changing`: packages are being installed, or were when setup was interrupted.
    """

    folder: Path
    done: dict[str, str] = field(default_factory=dict)
    changing: bool = False

    def program(self, name: str) -> Path:
        if os.name == "nt":
            return self.folder / "Scripts" / f"{name}.exe"
        return self.folder / "bin" / name

    @property
    def place(self) -> str:
        """Its path and its interpreter; when either changes, its scripts break."""
        return f"{self.folder} {os.path.realpath(self.program('python'))}"

    def write(self) -> None:
        """Save the note."""
        note = {"place": self.place, "done": self.done, "changing": self.changing}
        write_atomically(self.folder / NOTE, json.dumps(note, indent=1))

    @contextmanager
    def change(self) -> Iterator[None]:
        """Note a change as under way until it ends well, or fails before the first file."""
        self.changing = True
        self.write()
        try:
            yield
        except SetupError as error:
            self.changing = error.cause not in HARMLESS
            self.write()
            raise
        self.changing = False
        self.write()


def set_up(goal: Goal, folder: Path = VENV) -> Environment:
    """Bring the environment to the goal. SetupError with a sentence for the user."""
    system.provide(goal)
    with one_at_a_time():
        found = prepare(folder)
        pins = [PINS / f"{name}.txt" for name in ("run", *goal.tools)]
        files = (ROOT / "pyproject.toml", PINS / "setup.txt", *pins)
        keys = {path.name: key_of(path) for path in files} | {"torch": key_of(*torch_builds())}
        if not keys.items() <= found.done.items():
            with found.change():
                install_packages(found, pins)
                if found.done.get("torch") != keys["torch"]:
                    install_torch(found)
                say("  Rubato itself")
                uv(found, "--no-deps", "--editable", str(ROOT), doing="Installing Rubato")
                found.done |= keys
    return found


@contextmanager
def one_at_a_time() -> Iterator[None]:
    """Make a second setup of the same checkout wait for the first (not on Windows)."""
    with Path(__file__).open("rb") as file:
        if os.name != "nt":
            lock(file.fileno(), "  Another setup of this folder is under way; waiting for it.")
        yield


def key_of(*files: Path) -> str:
    """Return a short key of the content of files."""
    digest = hashlib.sha256(b"\0".join(file.read_bytes() for file in files))
    return digest.hexdigest()[:16]


# ------------------------------------------------------------------- the environment


def prepare(folder: Path) -> Environment:
    """Return the environment; create it again if it is incomplete or has no interpreter."""
    found = read(folder)
    if found.changing:
        say("  The last setup was interrupted or the folder moved: making .venv again.")
    elif found.done or usable(found):
        return found
    return make(folder)


def read(folder: Path) -> Environment:
    """Read the environment from its note. Without a readable note nothing counts as done."""
    try:
        note = json.loads((folder / NOTE).read_text(encoding="utf-8"))
        found = Environment(folder, dict(note["done"]), note["changing"])
        # a moved folder or a missing interpreter is treated like an interrupted setup
        return found if note["place"] == found.place else Environment(folder, changing=True)
    except (OSError, ValueError, KeyError, TypeError):
        return Environment(folder)


def usable(environment: Environment) -> bool:
    """Return whether a .venv from elsewhere can be used: it runs, and its Python is supported."""
    check = f"import sys, pip; sys.exit(not {OLDEST} <= sys.version_info < {TOO_NEW})"
    return succeeds([str(environment.program("python")), "-I", "-c", check])


def make(folder: Path) -> Environment:
    try:
        if folder.exists():
            shutil.rmtree(folder)
        venv.EnvBuilder(with_pip=True, symlinks=os.name != "nt", prompt="rubato").create(folder)
    except Exception as error:  # ensurepip runs in a child process and can fail with any error
        raise SetupError(
            f"The environment {folder} cannot be made ({error}). Delete the folder, see that there "
            "is room on the disk, and run the same command again."
        ) from error
    return Environment(folder)


# -------------------------------------------------------------------------- packages


def install_packages(target: Environment, pins: Sequence[Path]) -> None:
    """Install uv, and with it the packages of the files that are not installed yet."""
    say("  Installer (uv)")
    pip = [str(target.program("python")), "-P", "-m", "pip", "--disable-pip-version-check"]
    setup = ["install", "--quiet", *HASHED, "-r", str(PINS / "setup.txt")]
    run([*pip, *setup], doing="Installing uv")
    say("  Packages")
    if PINS / "llm.txt" in pins:
        say("    Language models in the process compile llama.cpp: minutes, once per machine.")
    files = [option for path in pins for option in ("-r", str(path))]
    uv(target, *HASHED, *files, env=cmake_settings(), doing="Installing the packages")


def uv(
    target: Environment, *arguments: str, doing: str, env: Mapping[str, str] | None = None
) -> None:
    """Run `uv pip install` in the environment; without a network, from uv's cache."""
    settings = {**index_settings(), **(env or {})}
    try:
        run([*uv_install(target), *arguments], env=settings, doing=doing)
    except SetupError as error:
        if error.cause is not Cause.NETWORK:
            raise
        say("    no network; trying earlier downloads")
        if not succeeds([*uv_install(target), "--offline", *arguments], env=settings):
            raise


def uv_install(target: Environment) -> list[str]:
    """Return the beginning of the command; it ignores an active environment of the user."""
    build = ["--build-constraints", str(PINS / "build.txt")]
    # --directory: not in the folder of pyproject.toml, whose overrides would also change torch's
    # pin
    where = ["--python", str(target.program("python")), "--directory", tempfile.gettempdir()]
    return [str(target.program("uv")), "pip", "install", "--no-progress", *where, *build]


def cmake_settings() -> dict[str, str]:
    """Return the build settings of llama.cpp. The user's own CMAKE_ARGS take precedence."""
    flags = ["-DGGML_NATIVE=OFF", "-DLLAVA_BUILD=OFF"]
    if platform.machine().lower() in ("x86_64", "amd64"):
        flags.append(AVX2 if has_avx2() else NO_AVX2)
    return {
        "CMAKE_BUILD_PARALLEL_LEVEL": str(os.cpu_count() or 1),
        "CMAKE_ARGS": os.environ.get("CMAKE_ARGS") or " ".join(flags),
    }


def has_avx2() -> bool:
    """Return whether this processor has AVX2; assumed if the system does not say."""
    try:
        return " avx2" in Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return True


# ----------------------------------------------------------------------------- torch


def install_torch(target: Environment) -> None:
    """Install torch and its libraries from the first source that has a pinned build. The last
    source is not probed first, so that the user sees its own error message.
    """
    say(f"  {TORCH} for {fitting_variant().name}")
    *others, last = torch_sources()
    words, arguments = next((each for each in others if has_torch(target, *each)), last)
    say(f"    from {words}")
    # reinstalled, because 2.13.0+cpu counts as 2.13.0, which uses CUDA
    uv(target, "--reinstall-package", "torch", *arguments, doing="Installing torch")
    run([str(target.program("python")), "-P", "-c", SHOW_TORCH], doing="Loading torch")
    common = Path(arguments[-1]).name == "torch.txt"
    if sys.platform == "win32" and fitting_variant() is Variant.CUDA and common:
        say("    This torch does not use the graphics card: CUDA for Windows is not pinned.")
        say("    The command that takes it from PyTorch's index: resources/pages/installing.md")


def has_torch(target: Environment, words: str, arguments: Sequence[str]) -> bool:
    asking = [*uv_install(target), "--dry-run", *arguments]
    found = succeeds(asking, env=index_settings(), timeout_s=120)
    if not found:
        say(f"    not available from {words}")
    return found


def torch_sources() -> list[tuple[str, list[str]]]:
    """Return the sources of this machine's builds, best first: the name for the user, and the
    arguments of uv, which end with the file of pins.
    """
    return [
        (words, [*HASHED, *options, "-r", str(pins)])
        for pins in torch_builds()
        for words, options in payload.torch_sources(pins, fitting_variant())
    ]


def torch_builds() -> list[Path]:
    """Return the pins of this machine's builds, best first; the last is on the package index."""
    own = PINS / torch_pins(sys.platform, fitting_variant())
    common = PINS / "torch.txt"
    return [own, common] if own.is_file() and own != common else [common]


# ---------------------------------------------------------------- after the packages


def offer_models(found: Environment) -> None:
    """Fetch each of OFFERS, once. This may fail, and Ctrl+C skips one: then the built-in part is
    used, and the user reads how to fetch it later.
    """
    rubato = str(found.program("rubato"))
    for model, (title, without) in OFFERS.items():
        if model in found.done:
            continue
        say(f"  {title} (Ctrl+C skips it)")
        if not ends_well([rubato, "models", "get", model]):
            say(f"    Not fetched: {without}.")
            say(f"    To have it later: {rubato} models get {model}")
        found.done[model] = "offered"
        found.write()


def show_in_desktop(found: Environment) -> None:
    """Add Rubato to the user's menu, on Linux; its desktop entry also identifies the program that
    asks for a global key. A failure is only reported.
    """
    if not sys.platform.startswith("linux"):
        return
    try:
        command = [str(found.program("rubato"))]
        icon = ROOT / "resources" / "icons" / "rubato.svg"
        written = desktop_entry.install(command, icon, desktop_entry.data_home())
    except (OSError, RuntimeError) as error:  # RuntimeError: there is no home
        say(f"  Rubato could not be added to the menu ({error}).")
        return
    if written:
        say(f"  Rubato is in your menu now: {written[0].parent}")
