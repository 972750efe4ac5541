"""The folder of one training run: the output of each stage, and whether it is done.

Invariant: a stage is done only when its manifest says so, and the manifest is written last; files
are complete or absent.
"""

import hashlib
import json
import shutil
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path
from typing import Any, Final

from engine import systems
from engine.atomic_write import replace_file
from engine.errors import InvalidInput
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

    def finish(self, name: str, **facts: Any) -> None:
        """Mark a stage as done. Its manifest has the hashes of its files, so that stages that read
        them are not done when they are other ones.
        """
        folder, manifest = self.stage(name), self._manifest(name)
        files = sorted(file for file in folder.rglob("*") if file.is_file() and file != manifest)
        hashes = {str(file.relative_to(folder)): file_hash(file) for file in files}
        write_json(manifest, {"key": self.key(name), "files": hashes, **facts})

    def is_done(self, name: str) -> bool:
        """Return True if a stage was finished with the current recipe and the current output of
        the stages that it reads.
        """
        file, read = self._manifest(name), self.stages[name].reads
        return (
            file.is_file()
            and all(self.is_done(each) for each in read if each in self.stages)
            and read_json(file)["key"] == self.key(name)
        )

    def require(self, *names: str) -> None:
        """InvalidInput if one of these stages is not done; a part of the built-in voice is."""
        for name in names:
            if name in self.stages and not self.is_done(name):
                raise InvalidInput(
                    f"The stage '{name}' has not been finished with this recipe.",
                    hint=f"Run it first: python -m engine.training {name} RECIPE.toml",
                )

    def discard(self, name: str) -> None:
        """Delete everything that a stage wrote, its checkpoint included."""
        shutil.rmtree(self.folder / name, ignore_errors=True)

    def key(self, name: str) -> str:
        """Return the fingerprint of all that a stage depends on: sections of the recipe, and the
        output of other stages, or weights of the built-in voice.
        """
        stage = self.stages[name]
        values = [attrgetter(each)(self.recipe) for each in stage.sections]
        inputs = [
            file_hash(self._manifest(each) if each in self.stages else self.weights(each))
            for each in stage.reads
        ]
        return fingerprint(self.recipe.system, self.recipe.seed, values, inputs)

    def _manifest(self, name: str) -> Path:
        return self.folder / name / "manifest.json"


class StageProgress:
    """Report the finished fraction of a stage on the terminal, at most every few seconds."""

    def __init__(self, name: str, total: float) -> None:
        self._name, self._total = name, total
        self._started = self._reported = time.monotonic()

    def report(self, amount: float, about: str = "") -> None:
        """Report that `amount` of the total is done."""
        now = time.monotonic()
        if now - self._reported >= REPORT_SECONDS or amount >= self._total:
            self._reported, share = now, amount / self._total
            sys.stderr.write(f"{self._name} {share:6.1%} {now - self._started:.0f} s {about}\n")


def write_json(file: Path, content: Any) -> None:
    """Write a JSON file. It is complete or absent."""
    replace_file(file, json.dumps(content, indent=1, ensure_ascii=False))


def read_json(file: Path) -> dict[str, Any]:
    """Read a JSON object that this package wrote. InvalidInput when it is damaged."""
    try:
        content: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        message = f"{file} cannot be read: {error}."
        raise InvalidInput(message, hint="Delete it and run again.") from error
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
    with file.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()
