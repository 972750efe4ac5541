"""The environment in .venv and the note in it on how far setup got.

Invariant: a step is noted as done only after it ended well, and before it begins as being done; so
a setup that was cut off is seen the next time, and then .venv is made afresh rather than trusted.
"""

import hashlib
import json
import os
import re
import shutil
import sys
import venv
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from installer.commands import Cause, SetupError, say, succeeds

NOTE = "rubato-setup.json"
FORMAT = "1"  # of the note; a new number makes every step run again
# These happen before uv puts a first file in place, so the environment is as it was.
HARMLESS = (Cause.NETWORK, Cause.COMPILER, Cause.HASH, Cause.PLATFORM)


@dataclass
class Environment:
    """.venv and which steps were done in it, each under the key of what it was done with."""

    folder: Path
    done: dict[str, str] = field(default_factory=dict)
    doing: str | None = None  # the step under way, or cut off; None when none is

    @property
    def python(self) -> Path:
        return self.program("python")

    def program(self, name: str) -> Path:
        if os.name == "nt":
            return self.folder / "Scripts" / f"{name}.exe"
        return self.folder / "bin" / name

    def write(self) -> None:
        """Save the note under a temporary name first, so that it is never half there."""
        note = {"place": place_of(self), "done": self.done, "doing": self.doing}
        fresh = self.folder / (NOTE + ".new")
        fresh.write_text(json.dumps(note, indent=1), encoding="utf-8")
        fresh.replace(self.folder / NOTE)

    @contextmanager
    def step(self, name: str, key: str) -> Iterator[None]:
        """Note the step as under way, then as done. A cut or a doubtful failure stays noted."""
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
    """A short name for what a step depends on: texts, and the content of files."""
    digest = hashlib.sha256(FORMAT.encode())
    for part in parts:
        digest.update(b"\0" + (part.read_bytes() if isinstance(part, Path) else part.encode()))
    return digest.hexdigest()[:16]


def place_of(environment: Environment) -> str:
    """Where the environment is and on which interpreter; when either moves, its scripts break."""
    return f"{environment.folder} {os.path.realpath(environment.python)}"


def read(folder: Path) -> Environment:
    """The environment as its note tells it. Without a readable note no step counts as done."""
    try:
        note = json.loads((folder / NOTE).read_text(encoding="utf-8"))
        found = Environment(folder, dict(note["done"]), note["doing"])
        place = note["place"]
    except (OSError, ValueError, KeyError, TypeError):
        return Environment(folder)
    # a moved folder or a vanished interpreter is treated as a setup that was cut off
    return found if place == place_of(found) else Environment(folder, doing="moving")


def prepare(folder: Path) -> Environment:
    """The environment, made afresh where it is missing, cut off, or its interpreter is gone."""
    found = read(folder)
    if found.doing is None and found.done:
        return found
    if found.doing is not None:
        say("  The last setup was cut off or the folder moved: making .venv afresh.")
    elif usable(found):
        return found
    return make(folder)


def usable(environment: Environment) -> bool:
    """Whether a .venv that setup did not make can serve: it runs, and its Python is one of ours."""
    check = "import sys, pip; sys.exit(not (3, 11) <= sys.version_info < (3, 14))"
    return succeeds([str(environment.python), "-c", check])


def make(folder: Path) -> Environment:
    try:
        if folder.exists():
            shutil.rmtree(folder)
        venv.EnvBuilder(with_pip=True, symlinks=os.name != "nt", prompt="rubato").create(folder)
    except Exception as error:  # ensurepip runs in a child; any failure of it comes as its own kind
        raise SetupError(
            f"The environment {folder} cannot be made ({error}). Delete the folder, see that there "
            "is room on the disk, and run the same command again."
        ) from error
    return Environment(folder)


def version_of(environment: Environment) -> str:
    """The environment's Python version as its own file tells it, for example '3.11.7'."""
    text = (environment.folder / "pyvenv.cfg").read_text(encoding="utf-8")
    match = re.search(r"^version(?:_info)?\s*=\s*(\S+)", text, re.MULTILINE)
    return match[1] if match else ".".join(map(str, sys.version_info[:3]))
