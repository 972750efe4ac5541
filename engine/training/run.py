"""The folder of one training run: what each stage wrote, from which inputs, and whether it is done.

Invariant: a stage is done only when its manifest says so, and the manifest is written last; files
appear whole, by a rename.
"""

import hashlib
import json
import shutil
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from operator import attrgetter
from pathlib import Path
from types import FrameType
from typing import Any

from engine.atomic_write import replace_file
from engine.errors import Cancelled, InvalidInput
from engine.training.recipe import Recipe
from engine.training.stages import SYSTEMS

REPORT_SECONDS = 10.0
CARD_FILE = "CARD.md"  # of a pack


@dataclass(frozen=True)
class Run:
    """A recipe and the folder its stages work in."""

    recipe: Recipe
    folder: Path
    device: str = "cpu"
    workers: int = 1
    only: tuple[str, ...] = ()  # beginnings of names of parts of `evaluate`; () = all

    def stage(self, name: str) -> Path:
        """The folder of a stage; created if it does not exist."""
        folder = self.folder / name
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def finish(self, name: str, inputs: dict[str, str], **about: Any) -> None:
        """Mark a stage as done, with the hashes of its inputs and outputs; without a pack's card,
        into which `evaluate` writes its figures.
        """
        folder = self.stage(name)
        files = sorted(
            file
            for file in folder.rglob("*")
            if file.is_file()
            and file.name not in {"manifest.json", CARD_FILE}
            and "partial" not in file.name
            and "check" not in file.stem
        )
        outputs = {str(file.relative_to(folder)): file_hash(file) for file in files}
        manifest = {
            "stage": name,
            "recipe": self.recipe.name,
            "key": self.key(name),
            "inputs": inputs,
            "outputs": outputs,
            **about,
        }
        write_json(self._manifest(name), manifest)

    def take(self, name: str, source: Path, file: str, inputs: dict[str, str], origin: str) -> None:
        """Finish a stage with a copy of a file, which then is called `file`."""
        partial = self.stage(name) / f"{file}.partial"
        shutil.copyfile(source, partial)
        partial.replace(partial.with_suffix(""))
        self.finish(name, {**inputs, source.name: file_hash(source)}, taken_from=origin)

    def is_done(self, name: str) -> bool:
        """Return True if a stage was finished with the current recipe, and its inputs and outputs
        have not changed.
        """
        file, stages = self._manifest(name), SYSTEMS[self.recipe.system].stages
        if not file.is_file():
            return False
        manifest = read_json(file)
        inputs: dict[str, str] = manifest["inputs"]
        outputs: dict[str, str] = manifest["outputs"]
        return (
            manifest["key"] == self.key(name)
            and all(
                self.is_done(each) and file_hash(self._manifest(each)) == digest
                for each, digest in inputs.items()
                if each in stages
            )
            and all(_has_hash(file.parent / each, digest) for each, digest in outputs.items())
        )

    def discard(self, name: str) -> None:
        """Delete everything that a stage wrote, its checkpoint included."""
        shutil.rmtree(self.folder / name, ignore_errors=True)

    def require(self, *names: str) -> dict[str, str]:
        """Hashes of the manifests of earlier stages; InvalidInput when one is not done."""
        for name in names:
            if not self.is_done(name):
                raise InvalidInput(
                    "The stage '{name}' has not been finished with this recipe.",
                    hint="Run it first: python -m engine.training {name} RECIPE.toml",
                    name=name,
                )
        return {name: file_hash(self._manifest(name)) for name in names}

    def key(self, name: str) -> str:
        """Fingerprint of the parts of the recipe that a stage itself depends on."""
        sections = SYSTEMS[self.recipe.system].stages[name].sections
        return fingerprint(self.recipe.seed, *(attrgetter(each)(self.recipe) for each in sections))

    def _manifest(self, name: str) -> Path:
        return self.folder / name / "manifest.json"


class Progress:
    """Says on the terminal how far a stage is, at most every few seconds."""

    def __init__(self, name: str, total: float, start: float = 0.0) -> None:
        """`start` = what was done before this process."""
        self._name, self._total, self._begun = name, total, start
        self._started = self._reported = time.monotonic()

    def report(self, amount: float, about: str = "") -> None:
        """`amount` of the total given."""
        now = time.monotonic()
        if now - self._reported < REPORT_SECONDS and amount < self._total:
            return
        self._reported = now
        spent = now - self._started
        share = amount / self._total if self._total else 1.0
        own = amount - self._begun
        left = f"{spent * (self._total - amount) / own / 60:.0f} min left" if own > 0 else ""
        sys.stderr.write(f"{self._name} {share:6.1%} {spent:.0f} s {left} {about}\n")


@contextmanager
def cancellable() -> Iterator[Callable[[], None]]:
    """Yields a check that raises Cancelled once the person has pressed Ctrl-C or the process was
    asked to end; the stage then saves a checkpoint and ends.
    """
    signals: list[int] = []

    def ask(number: int, _frame: FrameType | None) -> None:
        signals.append(number)

    def check() -> None:
        if signals:
            raise Cancelled("The training was stopped.", hint="The same command goes on from here.")

    old = {number: signal.signal(number, ask) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield check
    finally:
        for number, handler in old.items():
            signal.signal(number, handler)


def write_json(file: Path, content: Any) -> None:
    """Write it; the file is complete or absent."""
    replace_file(file, json.dumps(content, indent=1, ensure_ascii=False))


def read_json(file: Path) -> dict[str, Any]:
    """A JSON object this package wrote. InvalidInput when it is damaged."""
    try:
        content: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InvalidInput(
            "{file} cannot be read: {error}.",
            hint="Delete it and run again.",
            file=file,
            error=error,
        ) from error
    return content


def fingerprint(*parts: object) -> str:
    """A hash of values (by their repr) that decides whether finished work still holds."""
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:16]


def file_hash(file: Path) -> str:
    """sha256 of a file."""
    about = file.stat()
    return _hash_of(file, about.st_size, about.st_mtime_ns)


@cache
def _hash_of(file: Path, _size: int, _changed_ns: int) -> str:
    """sha256 of a file, computed once for each size and time of change."""
    with file.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


def _has_hash(file: Path, digest: str) -> bool:
    return file.is_file() and file_hash(file) == digest
