"""The stage `corpus`: draw texts, let synthesisers speak them, and write shards of about ten
minutes, a FLAC file and a JSON file each.

Invariants: a shard is a pure function of the recipe and its number, so any process may make it, on
any machine with the same synthesisers. The JSON file is written last, so a shard is either complete
or absent.
"""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import soundfile

from engine.text.phonemes import Espeak
from engine.training.corpus import grammar
from engine.training.corpus.utterance import SAMPLE_RATE, Entry, Plan, draw_plan, finish, seconds
from engine.training.recipe import Recipe
from engine.training.run import Run, Task, fingerprint, read_json, run_tasks, write_json
from engine.training.teachers import synthesisers
from engine.tts.kokoro.voices import NAME as KOKORO
from engine.typed_values import build

TEXTS_FILE: Final = "texts.json"  # prose of this machine


@dataclass(frozen=True)
class Shard:
    """A shard's index. The samples stay on disk until pcm() reads them."""

    index: Path  # the JSON file; the sound lies beside it
    entries: tuple[Entry, ...]

    @property
    def seconds(self) -> float:
        return sum(entry.length for entry in self.entries) / SAMPLE_RATE

    def spoken(self) -> Iterator[tuple[Entry, npt.NDArray[np.int16]]]:
        """Yield every utterance with its samples."""
        pcm, _ = soundfile.read(self.index.with_suffix(".flac"), dtype="int16")
        for entry in self.entries:
            yield entry, pcm[entry.offset : entry.offset + entry.length]


def floats(pcm: npt.NDArray[np.int16]) -> npt.NDArray[np.float32]:
    """Return samples between -1 and 1."""
    return pcm.astype(np.float32) / np.float32(32768)


def read_shards(folder: Path) -> tuple[Shard, ...]:
    """Read all finished shards in order."""
    return tuple(map(read_shard, sorted(folder.glob("[0-9]*.json"))))


def read_shard(index: Path) -> Shard:
    """Read a finished shard by its JSON file."""
    rows = read_json(index)["utterances"]
    return Shard(index, tuple(build(Entry, row) for row in rows))


def make_corpus(run: Run) -> dict[str, float]:
    """Make all missing shards, delete those of other recipes, and return the hours of speech."""
    recipe, folder = run.recipe, run.stage("corpus")
    for name in recipe.corpus.synthesisers:
        synthesisers.check_installed(name)
    if KOKORO in recipe.corpus.synthesisers:
        synthesisers.kokoro()  # fetched once, before there are several processes
    if recipe.corpus.grammar_share < 1 and not (folder / TEXTS_FILE).is_file():
        write_json(folder / TEXTS_FILE, {"prose": grammar.prose()})
    count = max(1, round(recipe.corpus.hours * 3600 / recipe.corpus.shard_seconds))
    wanted = [folder / f"{number:04d}.json" for number in range(count)]
    for index in folder.glob("[0-9]*.json"):
        if index not in wanted or read_json(index).get("key") != shard_key(recipe):
            index.unlink()
            index.with_suffix(".flac").unlink(missing_ok=True)
    tasks = [
        Task(f"shard {index.stem}", _make_shard, (index, recipe, number))
        for number, index in enumerate(wanted)
        if not index.is_file()
    ]
    run_tasks("corpus", tasks, run.workers)
    hours = sum(shard.seconds for shard in read_shards(folder)) / 3600
    return {"hours": round(hours, 3)}


def shard_key(recipe: Recipe) -> str:
    """Return the fingerprint of all settings that decide the shards, except their count."""
    return fingerprint(recipe.seed, replace(recipe.corpus, hours=1.0))


def _make_shard(index: Path, recipe: Recipe, number: int) -> None:
    """Task: write one shard, which carries the fingerprint of its recipe."""
    file = index.with_name(TEXTS_FILE)
    texts = tuple(read_json(file)["prose"]) if recipe.corpus.grammar_share < 1 else ()
    parts, rows, offset, espeak = [np.zeros(0, np.int16)], list[dict[str, Any]](), 0, Espeak()
    for plan in shard_plans(recipe, texts, number):
        take = synthesisers.speak(plan.speaker.base.synthesiser, plan.request())
        if not take or not (utterance := finish(plan, take, espeak)):
            continue
        pcm = np.clip(utterance.pcm * 32767, -32768, 32767).astype(np.int16)
        own = {each.name: getattr(utterance, each.name) for each in fields(Entry)}
        rows.append(own | {"offset": offset, "length": len(pcm)})
        parts.append(pcm)
        offset += len(pcm)
    partial = index.with_suffix(".partial")
    soundfile.write(partial, np.concatenate(parts), SAMPLE_RATE, format="FLAC", subtype="PCM_16")
    partial.replace(index.with_suffix(".flac"))
    write_json(index, {"key": shard_key(recipe), "utterances": rows})


def shard_plans(recipe: Recipe, texts: Sequence[str], number: int) -> list[Plan]:
    """Draw the plans (text, speaker, rates) of a shard's utterances."""
    draw = random.Random(f"{recipe.seed} shard {number}")
    plans: list[Plan] = []
    while sum(map(seconds, plans)) < recipe.corpus.shard_seconds:
        plans.append(draw_plan(recipe, texts, draw))
    return plans
