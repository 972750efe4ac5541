"""The environment in .venv, and its note about the finished steps of setup.

Invariant: a step is noted as under way before it begins and as done only after it succeeded. So the
next setup notices one that was interrupted, and creates .venv again instead of trusting it.
"""

import hashlib
import json
import os
import shutil
import venv
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from installer.commands import Cause, SetupError, say, succeeds
from installer.plan import OLDEST, TOO_NEW

NOTE = "rubato-setup.json"
FORMAT = "1"  # of the note; a new number makes every step run again
# These happen before uv installs the first file, so the environment is unchanged.
HARMLESS = (Cause.NETWORK, Cause.COMPILER, Cause.HASH, Cause.PLATFORM)


@dataclass
class Environment:
    """.venv and the finished steps, each with the key of its dependencies."""

    folder: Path
    done: dict[str, str] = field(default_factory=dict)
    doing: str | None = None  # the step under way or interrupted; None = none

    @property
    def python(self) -> Path:
        return self.program("python")

    def program(self, name: str) -> Path:
        if os.name == "nt":
            return self.folder / "Scripts" / f"{name}.exe"
        return self.folder / "bin" / name

    def write(self) -> None:
        """Save the note under a temporary name first, so that it is never incomplete."""
        note = {"place": place_of(self), "done": self.done, "doing": self.doing}
        fresh = self.folder / (NOTE + ".new")
        fresh.write_text(json.dumps(note, indent=1), encoding="utf-8")
        fresh.replace(self.folder / NOTE)

    @contextmanager
    def step(self, name: str, key: str) -> Iterator[None]:
        """Note the step as under way, then as done. After an interruption or an unclear failure it
        stays under way.
        """
        self.done.pop(name, None)
        self.doing = name
        self.write()
        try:
            yield
        except SetupError as error:
            if error.cause in HARMLESS:
                self.doing = None
                self.write()
            raise
        self.doing = None
        self.done[name] = key
        self.write()


def key_of(*parts: str | Path) -> str:
    """Return a short key of a step's dependencies: texts, and the content of files."""
    digest = hashlib.sha256(FORMAT.encode())
    for part in parts:
        digest.update(b"\0" + (part.read_bytes() if isinstance(part, Path) else part.encode()))
    return digest.hexdigest()[:16]


def place_of(environment: Environment) -> str:
    """Return the environment's path and its interpreter; when either changes, its scripts break."""
    return f"{environment.folder} {os.path.realpath(environment.python)}"


def read(folder: Path) -> Environment:
    """Read the environment from its note. Without a readable note no step counts as done."""
    try:
        note = json.loads((folder / NOTE).read_text(encoding="utf-8"))
        found = Environment(folder, dict(note["done"]), note["doing"])
        place = note["place"]
    except (OSError, ValueError, KeyError, TypeError):
        return Environment(folder)
    # a moved folder or a missing interpreter is treated like an interrupted setup
    return found if place == place_of(found) else Environment(folder, doing="moving")


def prepare(folder: Path) -> Environment:
    """Return the environment; create it again if it is incomplete or has no interpreter."""
    found = read(folder)
    if found.doing is None and found.done:
        return found
    if found.doing is not None:
        say("  The last setup was interrupted or the folder moved: making .venv again.")
    elif usable(found):
        return found
    return make(folder)


def usable(environment: Environment) -> bool:
    """Return whether a .venv from elsewhere can be used: it runs, and its Python is supported."""
    check = f"import sys, pip; sys.exit(not {OLDEST} <= sys.version_info < {TOO_NEW})"
    return succeeds([str(environment.python), "-I", "-c", check])


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
