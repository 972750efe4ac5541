"""Create a new environment beside the current one, check it, and only then make it current.

Invariant: an environment without its mark is never started. One that an earlier run left without a
mark is removed and created again, which is fast, because uv caches every complete package. Every
package is checked against its pinned hash, and Rubato's wheel against that of the payload, so an
index can refuse a package but never replace it.
"""

import errno
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from installer import system
from installer.bootstrap import windows
from installer.bootstrap.paths import GONE, LEAST_FOR_BYTE_CODE, PREFIX, Home, check_room, opened
from installer.bootstrap.payload import (
    BOOTSTRAPPER,
    Payload,
    Variant,
    fitting_variant,
    torch_sources,
)
from installer.commands import Cause, SetupError, cause_of, follow, index_settings, say
from installer.plan import OLDEST, TOO_NEW

# The user's variables for uv that count: those about the network and the sources of packages.
_ALLOWED = re.compile(
    r"UV_(DEFAULT_INDEX|INDEX|INDEX_URL|EXTRA_INDEX_URL|INDEX_\w+_(USERNAME|PASSWORD)|FIND_LINKS|"
    r"HTTP_TIMEOUT|HTTP_RETRIES|CONCURRENT_\w+|NATIVE_TLS|SYSTEM_CERTS|INSECURE_HOST|"
    r"KEYRING_PROVIDER|OFFLINE|PYTHON_INSTALL_MIRROR|LINK_MODE)"
)
_OTHER_WORK = ("VIRTUAL_ENV", "CONDA_PREFIX", "PYTHONHOME", "PYTHONPATH", "PYTHONDONTWRITEBYTECODE")


@dataclass(frozen=True)
class Maker:
    """Creates environment `name` below `home`, from this payload, with this variant of torch.
    `wheels`: all packages come from this folder, none from the network.
    """

    home: Home
    name: str
    payload: Payload
    variant: Variant
    wheels: Path | None

    @property
    def python(self) -> Path:
        return self.home.python(self.name)

    def make(self) -> None:
        """Run the steps in order; the last one writes the mark."""
        torch, size = self.torch_pins(), "200 MB" if self.variant is Variant.CPU else "2.5 GB"
        _show_step(0.02, "Making the environment")
        check_system()
        self.make_environment()
        _show_step(0.04, "Getting the packages (310 MB)")
        self._install_pins(self.payload.packages, "Getting the packages")
        _show_step(0.5, f"Getting torch ({size})")
        self.get_torch(torch)
        _show_step(0.85, "Installing Rubato")
        self._install(str(self.payload.wheel), doing="Installing Rubato")
        _show_step(0.9, "Testing it: a window off screen and a spoken sentence")
        self.check()
        _show_step(0.98, "It works")
        self.home.mark_complete(self.name)

    def torch_pins(self) -> Path:
        """Return the pins of torch. SetupError if this release has none for this machine."""
        path = self.payload.torch(self.variant)
        if not path.is_file():
            raise SetupError(
                f"This release has no pinned torch for {self.variant.value} here ({path.name}). "
                "Choose the other variant (--variant), or take a release made where PyTorch's own "
                "index can be reached."
            )
        return path

    def make_environment(self) -> None:
        # not that of an environment we may run in, which may be deleted
        base, env = getattr(sys, "_base_executable", sys.executable), self.home.env(self.name)
        self._uv("venv", "--no-project", "--python", base, str(env), doing="Making a folder")
        shutil.copytree(self.payload.folder / BOOTSTRAPPER, env / BOOTSTRAPPER)

    def get_torch(self, pins: Path) -> None:
        """Install torch from the first source that has the pinned build."""
        offline = self.wheels is not None
        sources = [("", [])] if offline else torch_sources(pins, self.variant)
        for _, options in sources[:-1]:
            try:
                return self._install_pins(pins, "Getting torch", *options)
            except SetupError as error:
                if error.cause is Cause.DISK:
                    raise
        return self._install_pins(pins, "Getting torch", *sources[-1][1])

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

    def _quiet(self, folder: str) -> dict[str, str]:
        """Return variables for a program of this environment that writes its files to the folder
        and shows nothing.
        """
        env = settings_of_uv(os.environ, self.home) | {"PYTHONUTF8": "1", "PYTHONNOUSERSITE": "1"}
        if shutil.disk_usage(self.home.folder).free < LEAST_FOR_BYTE_CODE:
            env["PYTHONDONTWRITEBYTECODE"] = "1"
        own = dict.fromkeys(("RUBATO_CONFIG", "RUBATO_DATA", "XDG_CACHE_HOME"), folder)
        return env | own | {"QT_QPA_PLATFORM": "offscreen", "CUDA_VISIBLE_DEVICES": "-1"}

    def _install_pins(self, pins: Path, doing: str, *options: str) -> None:
        hashed = ["--require-hashes", "--only-binary", ":all:", *options]
        self._install(*hashed, "-r", str(pins), doing=doing)

    def _install(self, *arguments: str, doing: str) -> None:
        """Install exactly the named packages, without their dependencies."""
        options = ["--no-deps", "--python", str(self.python)]
        if self.wheels is not None:
            options += ["--no-index", "--offline", "--find-links", str(self.wheels)]
        self._uv("pip", "install", *options, *arguments, doing=doing)

    def _uv(self, *arguments: str, doing: str) -> None:
        # not in the current folder, which may belong to some project
        where = ["--directory", str(self.home.folder), "--no-progress", "--color", "never"]
        command = [str(self.payload.uv), *arguments, *where]
        output = follow(command, settings_of_uv(os.environ, self.home))
        if output is not None:
            cause, reason = cause_of(output), cause_of(output).advice
            if self.wheels and cause in (Cause.NETWORK, Cause.PLATFORM, Cause.UNKNOWN):
                reason = f"{self.wheels} does not contain all pinned packages for this Python."
            raise SetupError(f"{doing} failed. {reason}", cause)


def settings_of_uv(given: Mapping[str, str], home: Home) -> dict[str, str]:
    """Return the environment variables for uv. It reads no configuration file of the user's other
    work, and touches no other environment.
    """
    kept = {
        name: value
        for name, value in given.items()
        if not (name.startswith("UV_") and not _ALLOWED.fullmatch(name)) and name not in _OTHER_WORK
    }
    own = {
        "UV_NO_CONFIG": "1",
        "UV_CACHE_DIR": str(home.cache),
        "UV_PYTHON_INSTALL_DIR": str(home.pythons),
    }
    return {**index_settings(given), **kept, **own}


def check_system() -> None:
    """SetupError if the system lacks a library, naming the packages to install, or if this Python
    does not fit.
    """
    missing = [need for need in system.WINDOW_AND_SOUND if not system.is_there(need)]
    if sys.platform.startswith("linux") and missing:
        raise SetupError(system.by_hand(missing))
    if lacking := windows.missing_runtime():
        raise SetupError(lacking)
    if not OLDEST <= sys.version_info < TOO_NEW:
        raise SetupError(f"Rubato needs Python 3.11, 3.12 or 3.13; this is {sys.version}.")


def install(
    home: Home, payload: Payload, variant: Variant | None = None, wheels: Path | None = None
) -> str:
    """Make this release the current one and return its environment's name; fast if it already is.
    `variant` None: by the driver. `wheels`: see Maker. SetupError with a sentence for the user;
    then the current environment is unchanged.
    """
    try:
        with opened(home):
            name = ensure_installed(home, payload, variant or variant_in(payload), wheels)
            home.switch(name)
            tidy(home)
            return name
    except OSError as error:
        raise SetupError(sentence_on(error)) from error


def sentence_on(error: OSError) -> str:
    # shutil.Error, from copying a folder, has only a text
    if error.errno in (errno.ENOSPC, errno.EDQUOT) or cause_of(str(error)) is Cause.DISK:
        return Cause.DISK.advice
    return f"The installation stopped: {error}. Correct that and start again."


def ensure_installed(home: Home, payload: Payload, variant: Variant, wheels: Path | None) -> str:
    """Return a complete and checked environment of this release, created if it is missing."""
    name = base = f"{PREFIX}{payload.version}-{variant.value}"
    if home.is_complete(name):
        return name
    if name == home.versions()[0]:  # broken, perhaps still running
        name = base + ".2"
    if home.is_complete(name):
        return name
    home.remove(name)
    payload = save_payload(home, payload)
    check_room(home, variant.room_gb)
    try:
        Maker(home, name, payload, variant, wheels).make()
    except BaseException:
        home.remove(name)
        raise
    return name


def variant_in(payload: Payload) -> Variant:
    """Return the variant that fits the machine, or the CPU one if this release has no other."""
    found = fitting_variant()
    return found if payload.torch(found).is_file() else Variant.CPU


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


def _show_step(part: float, title: str) -> None:
    """Show a step that begins when `part`, 0 to 1, of all work is done."""
    say(f"{part:4.0%}  {title}")


def tidy(home: Home) -> None:
    """Remove environments and payloads that no pointer can reach any more."""
    reachable = set(home.versions())
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
