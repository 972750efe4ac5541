"""The steps of setup in order, each skipped if none of its dependencies has changed.

Invariant: every installed file is checked against its pinned hash, torch included, whose build
depends on the hardware. Only llama-cpp-python is compiled, and only on request.
"""

import contextlib
import os
import platform
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

from app import desktop_entry
from installer import environment, system
from installer.bootstrap import payload
from installer.bootstrap.paths import lock
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
from installer.environment import Environment, key_of
from installer.plan import CUDA_ON_WINDOWS, PINS, ROOT, TORCH, VENV, Goal

# Portable code: a wheel built here (uv keeps it) also runs on another machine of these 12 years.
AVX2 = "-DGGML_AVX2=ON -DGGML_FMA=ON -DGGML_F16C=ON"
NO_AVX2 = "-DGGML_AVX=OFF -DGGML_AVX2=OFF -DGGML_FMA=OFF -DGGML_F16C=OFF -DGGML_BMI2=OFF"
HASHED = ("--no-deps", "--require-hashes")  # nothing is resolved


class Step(NamedTuple):
    name: str
    title: str
    key: str  # of its dependencies; the step runs again when it changes
    do: Callable[[Environment], None]


@dataclass(frozen=True)
class Offer:
    """A model that the first `make run` fetches; `without` describes the fallback."""

    model: str
    title: str
    without: str


EARS: Final = "whisper-base"
OFFERS = (
    Offer(
        EARS,
        "Whisper, the recogniser that understands people: 148 MB, once",
        "the built-in recogniser listens, which knows short commands best",
    ),
    Offer(
        "kokoro",
        "Kokoro, a natural voice: 111 MB, once",
        "the built-in voice speaks, which is understood less well",
    ),
)


def set_up(goal: Goal, folder: Path = VENV) -> Environment:
    """Bring the environment to the goal. SetupError with a sentence for the user."""
    system.provide(goal)
    with one_at_a_time():
        found = environment.prepare(folder)
        due = [step for step in steps_for(goal) if found.done.get(step.name) != step.key]
        for step in due:
            began = time.monotonic()
            say(f"  {step.title}")
            with found.step(step.name, step.key):
                step.do(found)
            say(f"  {step.title}: done in {time.monotonic() - began:.1f} s")
    return found


def steps_for(goal: Goal) -> list[Step]:
    steps = [
        Step("uv", "Installer (uv)", key_of(PINS / "setup.txt"), install_uv),
        pinned("run", "Packages"),
        Step("torch", f"{TORCH} for {hardware()}", key_of(*torch_builds()), install_torch),
    ]
    if goal.needs_dev:
        steps.append(pinned("dev", "Tools for the checks"))
    if goal.needs_llm:
        title = "Language models in the process (compiles llama.cpp: minutes, once per machine)"
        steps.append(pinned("llm", title, cmake_settings()))
    project = key_of(ROOT / "pyproject.toml")
    return [*steps, Step("project", "Rubato itself", project, install_project)]


def offer_models(found: Environment) -> None:
    """Fetch each of OFFERS, once. This may fail, and Ctrl+C skips one: then the built-in part is
    used, and the user reads how to fetch it later.
    """
    rubato = str(found.program("rubato"))
    for offer in OFFERS:
        if offer.model in found.done:
            continue
        say(f"  {offer.title} (Ctrl+C skips it)")
        # Not a step: if setup is killed here, the environment is still complete.
        if not ends_well([rubato, "models", "get", offer.model]):
            say(f"    Not fetched: {offer.without}.")
            say(f"    To have it later: {rubato} models get {offer.model}")
        found.done[offer.model] = "offered"
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


def pinned(name: str, title: str, settings: Mapping[str, str] | None = None) -> Step:
    """Return a step that installs a file of pins, with `settings` in uv's environment."""
    pins, settings = PINS / f"{name}.txt", settings or {}

    def install(target: Environment) -> None:
        doing = f"The step '{title.partition(' (')[0]}'"
        uv(target, *HASHED, "-r", str(pins), env=settings, doing=doing)

    return Step(name, title, key_of(pins, repr(sorted(settings.items()))), install)


def install_uv(target: Environment) -> None:
    pip = [str(target.python), "-P", "-m", "pip", "--disable-pip-version-check", "install"]
    quiet = ["--quiet", "--no-deps", "--require-hashes", "-r", str(PINS / "setup.txt")]
    run([*pip, *quiet], doing="Installing uv")


def install_project(target: Environment) -> None:
    uv(target, "--no-deps", "--editable", str(ROOT), doing="Installing Rubato")


def install_torch(target: Environment) -> None:
    """Install torch and its libraries from the first source that has a pinned build. The last
    source is not probed first, so that the user sees its own error message.
    """
    *others, last = torch_sources()
    words, arguments = next((each for each in others if has_torch(target, *each)), last)
    say(f"    from {words}")
    # reinstalled, because 2.13.0+cpu counts as 2.13.0, which uses CUDA
    uv(target, "--reinstall-package", "torch", *arguments, doing="Installing torch")
    run([str(target.python), "-P", "-c", SHOW_TORCH], doing="Loading torch")
    common = Path(arguments[-1]).name == "torch.txt"
    if sys.platform == "win32" and hardware() == "CUDA" and common:
        say("    This torch does not use the graphics card: CUDA for Windows is not pinned.")
        say("    From PyTorch's own index, not checked by a pinned hash, it comes with:")
        say(f"    {IN_VENV} {CUDA_ON_WINDOWS}")


def has_torch(target: Environment, words: str, arguments: Sequence[str]) -> bool:
    asking = [*uv_install(target), "--dry-run", *arguments]
    found = succeeds(asking, env=index_settings(), timeout_s=120)
    if not found:
        say(f"    not available from {words}")
    return found


IN_VENV = r".venv\Scripts\uv pip install --python .venv\Scripts\python.exe"
SHOW_TORCH = (
    "import torch; print('torch', torch.__version__, 'on', "
    "torch.cuda.get_device_name() if torch.cuda.is_available() else 'the CPU')"
)


def torch_sources() -> list[tuple[str, list[str]]]:
    """Return the sources of this machine's builds, best first: the name for the user, and the
    arguments of uv, which end with the file of pins.
    """
    return [
        (words, [*HASHED, *options, "-r", str(pins)])
        for pins in torch_builds()
        for words, options in payload.torch_sources(pins, Variant[hardware()])
    ]


def torch_builds() -> list[Path]:
    """Return the pins of this machine's builds, best first; the last is on the package index."""
    own = PINS / torch_pins(sys.platform, Variant[hardware()])
    common = PINS / "torch.txt"
    return [own, common] if own.is_file() and own != common else [common]


def hardware() -> str:
    """Return 'CUDA' if NVIDIA's driver is active, otherwise 'CPU'."""
    return fitting_variant().name


def cmake_settings() -> dict[str, str]:
    """Return the build settings of llama.cpp. The user's own CMAKE_ARGS take precedence."""
    settings = {"CMAKE_BUILD_PARALLEL_LEVEL": str(os.cpu_count() or 1)}
    flags = ["-DGGML_NATIVE=OFF", "-DLLAVA_BUILD=OFF"]
    if platform.machine().lower() in ("x86_64", "amd64"):
        flags.append(AVX2 if has_avx2() else NO_AVX2)
    return settings | {"CMAKE_ARGS": os.environ.get("CMAKE_ARGS") or " ".join(flags)}


def has_avx2() -> bool:
    """Return whether this processor has AVX2; assumed if the system does not say."""
    try:
        return " avx2" in Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return True


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
    where = ["--python", str(target.python), "--directory", tempfile.gettempdir()]
    return [str(target.program("uv")), "pip", "install", "--no-progress", *where, *build]


@contextlib.contextmanager
def one_at_a_time() -> Iterator[None]:
    """Make a second setup of the same checkout wait for the first (not on Windows)."""
    with Path(__file__).open("rb") as file:
        if os.name != "nt":
            lock(file.fileno(), "  Another setup of this folder is under way; waiting for it.")
        yield
