"""What each step of an installation does to the new environment.

Invariant: every package is checked against its pinned hash, and Rubato's wheel against that of the
payload, so an index can refuse a package but never replace it.
"""

import os
import shutil
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from installer import system
from installer.bootstrap import uv, windows
from installer.bootstrap.payload import BOOTSTRAPPER, Payload
from installer.bootstrap.places import LEAST_FOR_BYTE_CODE, Home
from installer.bootstrap.progress import Progress
from installer.bootstrap.variant import Variant
from installer.commands import Cause, SetupError

OLDEST, TOO_NEW = (3, 11), (3, 14)
_WINDOW = ("pyside6-essentials", "shiboken6")  # needed by the small window of the installation


@dataclass(frozen=True)
class Maker:
    """A new environment: `name` below `home`, from this payload, with this variant of torch."""

    home: Home
    name: str
    payload: Payload
    variant: Variant
    wheels: Path | None
    progress: Progress

    @property
    def python(self) -> Path:
        return self.home.python(self.name)

    @property
    def uv(self) -> uv.Uv:
        watched = self.progress
        return uv.Uv(self.payload.uv, self.home, self.wheels, watched.detail, watched.watch)

    @property
    def torch_size(self) -> str:
        return "200 MB" if self.variant is Variant.CPU else "2.5 GB"

    def torch_pins(self) -> Path:
        """The pins of torch. SetupError if this release has none for this machine."""
        return self.payload.torch(self.variant)

    def check_system(self) -> None:
        """SetupError, naming what to install, if the system lacks a library."""
        missing = [need for need in system.WINDOW_AND_SOUND if not system.is_there(need)]
        if sys.platform.startswith("linux") and missing:
            raise SetupError(system.by_hand(missing))
        if lacking := windows.missing_runtime():
            raise SetupError(lacking)

    def make_environment(self) -> None:
        if not OLDEST <= sys.version_info < TOO_NEW:
            raise SetupError(f"Rubato needs Python 3.11, 3.12 or 3.13; this is {sys.version}.")
        # not the one of an environment we may run in, which disappears with that environment
        base = getattr(sys, "_base_executable", sys.executable)
        self.uv.venv(self.home.env(self.name), base)
        own = self.payload.folder / BOOTSTRAPPER
        shutil.copytree(own, self.home.env(self.name) / BOOTSTRAPPER)

    def get_window(self) -> None:
        text = self.payload.packages.read_text(encoding="utf-8")
        blocks = [block for block in text.split("\n") if block]
        with tempfile.TemporaryDirectory(dir=self.home.folder, prefix="gone-") as folder:
            part = Path(folder, "window.txt")
            part.write_text("\n".join(_of(_WINDOW, blocks)) + "\n", encoding="utf-8")
            self._pins(part, "Getting what windows are drawn with")

    def open_window(self) -> None:
        script = self.home.env(self.name) / BOOTSTRAPPER / "installer" / "bootstrap" / "window.py"
        self.progress.open_window([str(self.python), str(script)], self._quiet())

    def get_packages(self) -> None:
        self._pins(self.payload.packages, "Getting the packages")

    def get_torch(self, pins: Path) -> None:
        """Install torch from the first source that has the pinned build: the person's wheels,
        PyTorch's own index, the package index.
        """
        sources = self._torch_sources(pins)
        for options in sources[:-1]:
            try:
                return self._pins(pins, "Getting torch", *options)
            except SetupError as error:
                if error.cause is Cause.DISK:
                    raise
        return self._pins(pins, "Getting torch", *sources[-1])

    def put_rubato(self) -> None:
        wheel = str(self.payload.wheel)
        self._install(wheel, doing="Putting Rubato in")

    def check(self) -> None:
        """Let the program test itself, in separate folders and without a screen. SetupError."""
        with tempfile.TemporaryDirectory(dir=self.home.folder, prefix="gone-") as folder:
            # -P: do not import app from the folder we were started in
            command = [str(self.python), "-P", "-m", "app.installed", folder]
            watched = self.progress
            output = uv.follow(command, self._quiet(folder), watched.detail, watched.watch)
        self.progress.check()
        if output is not None:
            last = next((line for line in reversed(output.splitlines()) if line.strip()), "")
            raise SetupError(
                f"The new version does not work on this machine and was not put in force: {last}"
            )

    def _pins(self, pins: Path, doing: str, *options: str) -> None:
        hashed = ["--require-hashes", "--only-binary", ":all:", *options]
        self._install(*hashed, "-r", str(pins), doing=doing)

    def _install(self, *arguments: str, doing: str) -> None:
        try:
            self.uv.install(self.python, *arguments, doing=doing)
        finally:
            self.progress.check()  # a cancellation ends uv and would look like a failure of uv

    def _torch_sources(self, pins: Path) -> list[list[str]]:
        if self.wheels is not None or pins.name == "torch.txt":
            return [[]]
        folders = os.environ.get("UV_FIND_LINKS") or os.environ.get("PIP_FIND_LINKS") or ""
        links = [part for item in folders.replace(",", " ").split() for part in ("-f", item)]
        backend = "cpu" if self.variant is Variant.CPU else "auto"
        own = [f"--torch-backend={backend}"]
        return [["--no-index", *links], own] if links else [own]

    def _quiet(self, folder: str | None = None) -> dict[str, str]:
        """Variables for a program of this environment; with a folder, its files go there and
        nothing is shown.
        """
        env = uv.settings(os.environ, self.home) | {"PYTHONUTF8": "1", "PYTHONNOUSERSITE": "1"}
        if shutil.disk_usage(self.home.folder).free < LEAST_FOR_BYTE_CODE:
            env["PYTHONDONTWRITEBYTECODE"] = "1"
        if folder is None:
            return env
        own = dict.fromkeys(("RUBATO_CONFIG", "RUBATO_DATA", "XDG_CACHE_HOME"), folder)
        return env | own | {"QT_QPA_PLATFORM": "offscreen", "CUDA_VISIBLE_DEVICES": "-1"}


def _of(names: tuple[str, ...], lines: list[str]) -> list[str]:
    """The lines of these packages, with the hashes that follow each."""
    kept, taken = [], False
    for line in lines:
        if not line.startswith((" ", "#")):
            taken = line.partition("==")[0].lower() in names
        if taken and not line.startswith("#"):
            kept.append(line)
    return kept
