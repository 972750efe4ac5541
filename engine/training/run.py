"""The folder of one training run: what each stage wrote, from which inputs, and whether it is done.

Invariant: a stage is done only when its manifest says so, and the manifest is written last; files
appear whole, by a rename.
"""

import hashlib
import json
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

from engine.errors import Cancelled, InvalidInput
from engine.training.recipe import Recipe
from engine.training.stages import SYSTEMS, VOXTREAM2

REPORT_SECONDS = 10.0


@dataclass(frozen=True)
class Run:
    """A recipe and the folder its stages work in."""

    recipe: Recipe
    folder: Path
    device: str = "cpu"
    workers: int = 1
    dask: str = ""  # address of a Dask scheduler; "" = local processes
    file: Path = Path()  # of the recipe, for other processes
    only: tuple[str, ...] = ()  # beginnings of names of parts of `evaluate`; () = all

    def stage(self, name: str) -> Path:
        """The folder of a stage; created if it does not exist."""
        folder = self.folder / name
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def finish(self, name: str, inputs: dict[str, str], **about: Any) -> None:
        """Mark a stage as done, with the hashes of what it read and wrote."""
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
        manifest = {
            "stage": name,
            "recipe": self.recipe.name,
            "key": self.key(name),
            "inputs": inputs,
            "outputs": outputs,
            **about,
        }
        write_json(folder / "manifest.json", manifest)

    def is_done(self, name: str) -> bool:
        """Whether a stage was finished with the current recipe."""
        file = self.folder / name / "manifest.json"
        return file.is_file() and read_json(file).get("key") == self.key(name)

    def require(self, *names: str) -> dict[str, str]:
        """Hashes of the manifests of earlier stages; InvalidInput when one is not done."""
        for name in names:
            if not self.is_done(name):
                raise InvalidInput(
                    "The stage '{name}' has not been finished with this recipe.",
                    hint="Run it first: python -m engine.training {name} RECIPE.toml",
                    name=name,
                )
        return {name: file_hash(self.folder / name / "manifest.json") for name in names}

    def key(self, name: str) -> str:
        """Fingerprint of the parts of the recipe that a stage depends on: its own and those of
        earlier stages."""
        recipe = self.recipe
        if sections := SYSTEMS[recipe.system].stages[name].sections:
            return fingerprint(recipe.seed, *(getattr(recipe, section) for section in sections))
        # What most recipes do not have is left out, so that earlier runs keep their keys.
        origin = (recipe.begin_with,) if recipe.begin_with else ()
        system = (recipe.system,) if recipe.system != VOXTREAM2 else ()
        fresh = ("fresh voice",) if recipe.fresh_voice else ()
        parts: dict[str, tuple[object, ...]] = {"corpus": (recipe.corpus,)}
        parts["codec"] = (*parts["corpus"], *origin, recipe.codec)
        parts["speaker"] = (*parts["corpus"], *origin, recipe.speaker)
        parts["encode"] = (*parts["codec"], recipe.speaker, recipe.voice.noisy_prompts, *system)
        parts["voice"] = (*parts["encode"], recipe.voice, *fresh)
        parts["draw"] = (*parts["voice"], recipe.export.temperature, recipe.decoder.hours)
        known = parts["encode"] if recipe.decoder.phones else parts["codec"]
        source = parts["draw"] if recipe.decoder.drawn else known
        parts["decoder"] = (*source, recipe.decoder)
        parts["export"] = (*parts["voice"], recipe.decoder, recipe.export)
        parts["baselines"] = (*parts["corpus"], recipe.evaluate)
        parts["evaluate"] = (*parts["export"], recipe.evaluate)
        return fingerprint(recipe.seed, *parts[name])


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
    """Write, then rename: the file is complete or absent."""
    partial = file.with_name(f"{file.name}.{os.getpid()}.partial")
    partial.write_text(json.dumps(content, indent=1, ensure_ascii=False), encoding="utf-8")
    partial.replace(file)


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
    with file.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()
