"""Where updates come from, and what of the program they replace.

Invariant: both are facts of the installation. A copy without a trusted root never asks anybody, and
one that the bootstrapper did not make is not changed.
"""

import os
import sys
from dataclasses import dataclass
from pathlib import Path

from engine.errors import EngineError, UpdateError
from engine.resources import resource

VARIABLE = "RUBATO_UPDATES"  # a folder with ROOT and ADDRESS instead of the program's own
ROOT, ADDRESS = "root.json", "address.txt"
_MADE, _BOOTSTRAPPER = "made", "bootstrapper"  # what installer/bootstrap leaves in an environment
_LARGEST_ROOT = 512_000  # bytes, as tuf itself allows
SYSTEMS = {"linux": "linux", "win32": "windows", "darwin": "macos"}


@dataclass(frozen=True)
class Source:
    """A trusted root (its bytes) and the address below which metadata/ and targets/ are served."""

    root: bytes
    address: str


@dataclass(frozen=True)
class Installation:
    """The folder with the environments, and the name of the one that runs."""

    home: Path
    name: str

    @property
    def bootstrapper(self) -> Path:
        """A folder that Python runs: it installs, switches and rolls back."""
        return self.home / self.name / _BOOTSTRAPPER

    def payload(self, version: str) -> Path:
        """What a version was installed from, while it is kept."""
        return self.home / "payload" / version


def find_source() -> Source | None:
    """None: updates are off. UpdateError where what is configured cannot be used."""
    folder = _folder()
    if folder is None:
        return None
    try:
        with (folder / ROOT).open("rb") as file:
            root = file.read(_LARGEST_ROOT)
        address = (folder / ADDRESS).read_text(encoding="utf-8").strip()
    except (OSError, ValueError) as error:
        raise UpdateError(
            f"Updates are configured in {folder}, but cannot be read from there.",
            hint=f"It needs {ROOT}, the trusted root, and {ADDRESS}, where they are served.",
        ) from error
    if not address.startswith(("https://", "http://")) or any(each.isspace() for each in address):
        raise UpdateError(
            f"{folder / ADDRESS} holds no address.",
            hint="Write the address that metadata/ and targets/ are below, https://…",
        )
    return Source(root, address.rstrip("/"))


def _folder() -> Path | None:
    chosen = os.environ.get(VARIABLE)
    if chosen:
        return Path(chosen)
    try:
        return resource("updates")
    except EngineError:
        return None


def find_installation() -> Installation | None:
    """None: this is a checkout, or another program's package manager put it here."""
    environment = Path(sys.prefix)
    marks = (environment / _MADE, environment / _BOOTSTRAPPER / "__main__.py")
    if all(mark.is_file() for mark in marks):
        return Installation(environment.parent, environment.name)
    return None


def system() -> str:
    """What releases call this system."""
    return SYSTEMS.get(sys.platform, sys.platform)
