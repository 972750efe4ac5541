"""Create a new environment beside the current one, check it, and only then make it current.

Invariant: an environment without its mark is never started. One that an earlier run left without a
mark is removed and created again, which is fast, because uv caches every complete package. Every
package is checked against its pinned hash, and Rubato's wheel against that of the payload, so an
index can refuse a package but never replace it.
"""

import errno
import os
import shutil
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from installer import system
from installer.bootstrap import current_version, uv, windows
from installer.bootstrap.paths import GONE, LEAST_FOR_BYTE_CODE, PREFIX, Home, check_room, opened
from installer.bootstrap.payload import (
    BOOTSTRAPPER,
    Payload,
    Variant,
    fitting_variant,
    torch_sources,
)
from installer.commands import Cause, SetupError, advice, cause_of, follow, say
from installer.plan import OLDEST, TOO_NEW


@dataclass(frozen=True)
class Maker:
    """Creates environment `name` below `home`, from this payload, with this variant of torch."""

    home: Home
    name: str
    payload: Payload
    variant: Variant
    wheels: Path | None

    @property
    def python(self) -> Path:
        return self.home.python(self.name)

    @property
    def uv(self) -> uv.Uv:
        return uv.Uv(self.payload.uv, self.home, self.wheels)

    @property
    def torch_size(self) -> str:
        return "200 MB" if self.variant is Variant.CPU else "2.5 GB"

    def torch_pins(self) -> Path:
        """Return the pins of torch. SetupError if this release has none for this machine."""
        return self.payload.torch(self.variant)

    def check_system(self) -> None:
        """SetupError, naming the packages to install, if the system lacks a library."""
        missing = [need for need in system.WINDOW_AND_SOUND if not system.is_there(need)]
        if sys.platform.startswith("linux") and missing:
            raise SetupError(system.by_hand(missing))
        if lacking := windows.missing_runtime():
            raise SetupError(lacking)

    def make_environment(self) -> None:
        if not OLDEST <= sys.version_info < TOO_NEW:
            raise SetupError(f"Rubato needs Python 3.11, 3.12 or 3.13; this is {sys.version}.")
        # not that of an environment we may run in, which may be deleted
        base = getattr(sys, "_base_executable", sys.executable)
        self.uv.venv(self.home.env(self.name), base)
        own = self.payload.folder / BOOTSTRAPPER
        shutil.copytree(own, self.home.env(self.name) / BOOTSTRAPPER)

    def get_packages(self) -> None:
        self._pins(self.payload.packages, "Getting the packages")

    def get_torch(self, pins: Path) -> None:
        """Install torch from the first source that has the pinned build."""
        offline = self.wheels is not None
        sources = [("", [])] if offline else torch_sources(pins, self.variant)
        for _, options in sources[:-1]:
            try:
                return self._pins(pins, "Getting torch", *options)
            except SetupError as error:
                if error.cause is Cause.DISK:
                    raise
        return self._pins(pins, "Getting torch", *sources[-1][1])

    def put_rubato(self) -> None:
        self.uv.install(self.python, str(self.payload.wheel), doing="Installing Rubato")

    def check(self) -> None:
        """Let the program test itself, in separate folders and without a screen. SetupError."""
        with tempfile.TemporaryDirectory(dir=self.home.folder, prefix=GONE) as folder:
            # -P: do not import app from the current folder
            command = [str(self.python), "-P", "-m", "app.installed", folder]
            output = follow(command, self._quiet(folder))
        if output is not None:
            last = next((line for line in reversed(output.splitlines()) if line.strip()), "")
            raise SetupError(
                f"The new version does not work on this machine and is not used: {last}"
            )

    def _pins(self, pins: Path, doing: str, *options: str) -> None:
        hashed = ["--require-hashes", "--only-binary", ":all:", *options]
        self.uv.install(self.python, *hashed, "-r", str(pins), doing=doing)

    def _quiet(self, folder: str) -> dict[str, str]:
        """Return variables for a program of this environment that writes its files to the folder
        and shows nothing.
        """
        env = uv.settings(os.environ, self.home) | {"PYTHONUTF8": "1", "PYTHONNOUSERSITE": "1"}
        if shutil.disk_usage(self.home.folder).free < LEAST_FOR_BYTE_CODE:
            env["PYTHONDONTWRITEBYTECODE"] = "1"
        own = dict.fromkeys(("RUBATO_CONFIG", "RUBATO_DATA", "XDG_CACHE_HOME"), folder)
        return env | own | {"QT_QPA_PLATFORM": "offscreen", "CUDA_VISIBLE_DEVICES": "-1"}


@dataclass(frozen=True)
class Choice:
    """Installation options. `variant` None: by the driver. `wheels`: a folder, not the network."""

    variant: Variant | None = None
    wheels: Path | None = None


def install(home: Home, payload: Payload, choice: Choice | None = None) -> str:
    """Make this release the current one and return its environment's name; fast if it already is.
    SetupError with a sentence for the user; then the current environment is unchanged.
    """
    try:
        with opened(home):
            name = ensure_installed(home, payload, choice or Choice())
            current_version.switch(home, name)
            tidy(home)
            return name
    except OSError as error:
        raise SetupError(sentence_on(error)) from error


def sentence_on(error: OSError) -> str:
    # shutil.Error, from copying a folder, has only a text
    if error.errno in (errno.ENOSPC, errno.EDQUOT) or cause_of(str(error)) is Cause.DISK:
        return advice(Cause.DISK)
    return f"The installation stopped: {error}. Correct that and start again."


def ensure_installed(home: Home, payload: Payload, choice: Choice) -> str:
    """Return a complete and checked environment of this release, created if it is missing."""
    variant = choice.variant or variant_in(payload)
    name = base = f"{PREFIX}{payload.version}-{variant.value}"
    if home.is_complete(name):
        return name
    if name == current_version.read(home).current:  # broken, perhaps still running
        name = base + ".2"
    if home.is_complete(name):
        return name
    home.remove(name)
    payload = save_payload(home, payload)
    check_room(home, variant.room_gb)
    try:
        _make(Maker(home, name, payload, variant, choice.wheels))
    except BaseException:
        home.remove(name)
        raise
    return name


def variant_in(payload: Payload) -> Variant:
    """Return the variant that fits the machine, or the CPU one if this release has no other."""
    found = fitting_variant()
    return found if payload.has_torch(found) else Variant.CPU


def save_payload(home: Home, payload: Payload) -> Payload:
    """Check the payload, and save it in the home for repairs without its archive."""
    payload.check()
    folder = home.payloads / payload.version
    if payload.folder.resolve() != folder.resolve():
        fresh = home.payloads / (payload.version + ".new")
        shutil.rmtree(fresh, ignore_errors=True)
        try:
            shutil.copytree(payload.folder, fresh)
        except OSError:
            shutil.rmtree(fresh, ignore_errors=True)
            raise
        shutil.rmtree(folder, ignore_errors=True)
        fresh.rename(folder)
    return Payload(folder, payload.version, payload.files)


def _make(maker: Maker) -> None:
    """Run the steps in order; the last one writes the mark."""
    torch = maker.torch_pins()
    _show_step(0.02, "Making the environment")
    maker.check_system()
    maker.make_environment()
    _show_step(0.04, "Getting the packages (310 MB)")
    maker.get_packages()
    _show_step(0.5, f"Getting torch ({maker.torch_size})")
    maker.get_torch(torch)
    _show_step(0.85, "Installing Rubato")
    maker.put_rubato()
    _show_step(0.9, "Testing it: a window off screen and a spoken sentence")
    maker.check()
    _show_step(0.98, "It works")
    maker.home.mark_complete(maker.name)


def _show_step(part: float, title: str) -> None:
    """Show a step that begins when `part`, 0 to 1, of all work is done."""
    say(f"{part:4.0%}  {title}")


def tidy(home: Home) -> None:
    """Remove environments and payloads that no pointer can reach any more."""
    found = current_version.read(home)
    reachable = {found.current, found.previous}
    for name in home.environments():
        if name not in reachable:
            home.remove(name)
    versions = {version_of(name) for name in reachable}
    for folder in home.saved_payloads():
        if folder.name not in versions:
            shutil.rmtree(folder, ignore_errors=True)


def version_of(name: str) -> str:
    """Return the version in an environment's name: '0.1.0' for 'env-0.1.0-cpu.2'."""
    return name.removeprefix(PREFIX).rpartition("-")[0]
