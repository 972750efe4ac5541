"""The folder of one training run: the output of each stage, its inputs, and whether it is done.

Invariant: a stage is done only when its manifest says so, and the manifest is written last; files
are complete or absent.
"""

import hashlib
import json
import shutil
import signal
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from operator import attrgetter
from pathlib import Path
from types import FrameType
from typing import Any, Final

from engine import systems
from engine.atomic_write import replace_file
from engine.errors import Cancelled, InvalidInput
from engine.resources import resource
from engine.training.recipe import Stage
from engine.training.systems import SYSTEMS
from engine.tts import packs

REPORT_SECONDS: Final = 10.0


@dataclass(frozen=True)
class Run:
    """A recipe and the folder its stages work in."""

    recipe: Any  # the recipe of its system
    folder: Path
    device: str = "cpu"
    workers: int = 1

    @property
    def stages(self) -> Mapping[str, Stage]:
        """The stages of the recipe's system, in order."""
        return SYSTEMS[self.recipe.system].stages

    def stage(self, name: str) -> Path:
        """The folder of a stage; created if it does not exist."""
        folder = self.folder / name
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def weights(self, name: str) -> Path:
        """Return the file with the weights of the network `name`. If the system trains it, that is
        the stage's output. Otherwise it is SpeakStream's vocoder, which all systems share so that
        only their networks differ, or a part of the built-in voice. ModelError if SpeakStream has
        no pack here.
        """
        if name in self.stages:
            return self.folder / name / f"{name}.safetensors"
        if name == "vocoder":
            (speakstream,) = (each for each in systems.SYSTEMS if each.name == "speakstream")
            return packs.pack_folder(speakstream) / "vocoder.safetensors"
        return resource("starter", f"{name}.safetensors")

    def finish(self, name: str, inputs: dict[str, str], **about: Any) -> None:
        """Mark a stage as done, with the hashes of its inputs and outputs."""
        folder = self.stage(name)
        files = sorted(
            file
            for file in folder.rglob("*")
            if file.is_file()
            and file.name != "manifest.json"
            and "partial" not in file.name
            and "check" not in file.stem
        )
        outputs = {str(file.relative_to(folder)): file_hash(file) for file in files}
        manifest = {"key": self.key(name), "inputs": inputs, "outputs": outputs, **about}
        write_json(self._manifest(name), manifest)

    def is_done(self, name: str) -> bool:
        """Return True if a stage was finished with the current recipe, and its inputs and outputs
        have not changed.
        """
        file = self._manifest(name)
        if not file.is_file():
            return False
        manifest = read_json(file)
        inputs: dict[str, str] = manifest["inputs"]
        outputs: dict[str, str] = manifest["outputs"]
        return (
            manifest["key"] == self.key(name)
            and all(
                (each not in self.stages or self.is_done(each)) and self._input(each) == digest
                for each, digest in inputs.items()
            )
            and all(_has_hash(file.parent / each, digest) for each, digest in outputs.items())
        )

    def discard(self, name: str) -> None:
        """Delete everything that a stage wrote, its checkpoint included."""
        shutil.rmtree(self.folder / name, ignore_errors=True)

    def require(self, *names: str) -> dict[str, str]:
        """Return hashes of a stage's inputs: of the manifests of earlier stages, and of weights of
        the built-in voice. InvalidInput if one of these stages is not done.
        """
        for name in names:
            if name in self.stages and not self.is_done(name):
                raise InvalidInput(
                    "The stage '{name}' has not been finished with this recipe.",
                    hint="Run it first: python -m engine.training {name} RECIPE.toml",
                    name=name,
                )
        return {name: self._input(name) for name in names}

    def key(self, name: str) -> str:
        """Return the fingerprint of the sections of the recipe that a stage itself depends on."""
        sections = self.stages[name].sections
        values = (attrgetter(each)(self.recipe) for each in sections)
        return fingerprint(self.recipe.system, self.recipe.seed, *values)

    def _manifest(self, name: str) -> Path:
        return self.folder / name / "manifest.json"

    def _input(self, name: str) -> str:
        return file_hash(self._manifest(name) if name in self.stages else self.weights(name))


class StageProgress:
    """Report the finished fraction of a stage on the terminal, at most every few seconds."""

    def __init__(self, name: str, total: float, start: float = 0.0) -> None:
        """`start` = the amount done before this process."""
        self._name, self._total, self._begun = name, total, start
        self._started = self._reported = time.monotonic()

    def report(self, amount: float, about: str = "") -> None:
        """Report that `amount` of the total is done."""
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
def stop_signal() -> Iterator[Callable[[], bool]]:
    """Yield a function that returns True after Ctrl-C or a request to end the process."""
    signals: list[int] = []

    def note(number: int, _frame: FrameType | None) -> None:
        signals.append(number)

    old = {number: signal.signal(number, note) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield lambda: bool(signals)
    finally:
        for number, handler in old.items():
            signal.signal(number, handler)


def stopped() -> Cancelled:
    """Return the error that ends a run after a request to stop."""
    return Cancelled("The training was stopped.", hint="The same command continues from here.")


def write_json(file: Path, content: Any) -> None:
    """Write a JSON file. It is complete or absent."""
    replace_file(file, json.dumps(content, indent=1, ensure_ascii=False))


def read_json(file: Path) -> dict[str, Any]:
    """Read a JSON object that this package wrote. InvalidInput when it is damaged."""
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


def metadata(file: Path) -> dict[str, str]:
    """Return the metadata of a safetensors file that this package wrote."""
    from safetensors import safe_open

    with safe_open(str(file), framework="np") as handle:  # type: ignore[no-untyped-call]
        entries: dict[str, str] = handle.metadata() or {}
    return entries


def fingerprint(*parts: object) -> str:
    """Hash values by their repr. A changed fingerprint means that finished work is no
    longer valid.
    """
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:16]


def file_hash(file: Path) -> str:
    """Return the sha256 of a file."""
    about = file.stat()
    return _hash_of(file, about.st_size, about.st_mtime_ns)


@cache
def _hash_of(file: Path, _size: int, _changed_ns: int) -> str:
    """Return the sha256 of a file. It is computed once for each size and time of change."""
    with file.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


def _has_hash(file: Path, digest: str) -> bool:
    return file.is_file() and file_hash(file) == digest
