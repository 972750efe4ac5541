"""The stage `tokens`: every utterance as tokens, spectrum, units, and the unit each token belongs
to; both networks learn from these.

Invariant: units and tokens are those that a session of `engine.tts.smlle` would use.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import torch
from safetensors.numpy import load_file, save_file

from engine.codec.mel import MelSpectrum
from engine.codec.semantic import TOKEN_SAMPLES, SemanticTokeniser, load_semantic
from engine.training.corpus.shards import Entry, Shard, read_shard, read_shards
from engine.training.corpus.speakers import divided
from engine.training.corpus.utterance import SAMPLE_RATE
from engine.training.run import Run, file_hash, read_json, write_json
from engine.training.tasks import Place, Result, Task, do_tasks
from engine.training.voice.encode import aligned_phones, phone_ids, speaker_vector
from engine.tts.phones import MARKS as MARK_IDS
from engine.tts.phones import PhoneTable
from engine.tts.smlle.config import MARKS
from engine.tts.speaker.small import SmallSpeaker, load_small_speaker

CLOSING: Final = 5  # tokens of silence behind speech, 200 ms
Ints = npt.NDArray[np.int64]
_MARK_OF: Final = {number: MARKS[mark] for mark, number in MARK_IDS.items()}


@dataclass(frozen=True)
class Encoded:
    """One utterance. Phones and marks are units without begin and end; `spoken_by` [T] counts units
    with them: 0 is the begin, 1 the first phone.
    """

    speaker: int
    tokens: npt.NDArray[np.int16]  # [T]
    mel: npt.NDArray[np.float16]  # [2 T, bands]
    spoken_by: npt.NDArray[np.int16]  # [T]
    phones: npt.NDArray[np.int16]  # [U]
    marks: npt.NDArray[np.int8]  # [U]
    vector: npt.NDArray[np.float32]
    syllables: int = 0

    @property
    def steps(self) -> int:
        return len(self.tokens)

    def units(self, begin: int, end: int) -> Ints:
        """Phones of all units."""
        return np.concatenate(([begin], self.phones, [end])).astype(np.int64)

    def aligned(self, begin: int, end: int) -> Ints:
        """X': the phone that says each token, [T]."""
        return self.units(begin, end)[self.spoken_by]


Side = dict[int, tuple[Encoded, ...]]  # utterances by speaker


@dataclass(frozen=True)
class Sides:
    """Utterances to train on and to validate with."""

    training: Side
    validation: Side


def encode_tokens(run: Run) -> None:
    """Encode all shards that are not encoded yet, and the table of phones."""
    inputs = run.require("corpus", "semantic", "speaker")
    folder = run.stage("tokens")
    shards = read_shards(run.stage("corpus"))
    table = folder / "phones.json"
    write_json(table, phone_ids(shards, run.recipe.corpus.rare_phone))
    files = [run.stage(name) / f"{name}.safetensors" for name in ("semantic", "speaker")]
    hashes = tuple(map(file_hash, (*files, table)))
    parts = []
    for shard in shards:
        output = folder / f"{shard.index.stem}.safetensors"
        arguments = tuple(map(Place, (shard.index, output, *files, table)))
        depends = (*hashes, file_hash(shard.index))
        parts.append(Task(f"shard/{shard.index.stem}", encode_shard, arguments, depends))
        if not output.is_file():
            parts[-1].file(folder).unlink(missing_ok=True)
    do_tasks("tokens", folder, parts, run.workers)
    run.finish("tokens", inputs)


def encode_shard(index: str, output: str, semantic: str, speaker: str, table: str) -> Result:
    """Encode the shard of a JSON file into the file `output`. How many utterances it has."""
    encoder = _Encoder(
        load_semantic(Path(semantic)),
        load_small_speaker(Path(speaker)),
        PhoneTable(read_json(Path(table))),
    )
    utterances = encoder.shard(read_shard(Path(index)))
    arrays: dict[str, npt.NDArray[np.generic]] = {}
    for number, each in enumerate(utterances):
        about = np.asarray((each.speaker, each.syllables), np.int32)
        for name in ("tokens", "mel", "spoken_by", "phones", "marks", "vector"):
            arrays[f"{number:05d}/{name}"] = np.ascontiguousarray(getattr(each, name))
        arrays[f"{number:05d}/about"] = about
    partial = Path(output).with_suffix(".partial")
    save_file(arrays, partial)
    partial.replace(output)
    return {"utterances": len(utterances)}


class _Encoder:
    """Encodes shards with one tokeniser, one speaker encoder and one table."""

    def __init__(
        self, semantic: SemanticTokeniser, speaker: SmallSpeaker, table: PhoneTable
    ) -> None:
        self._semantic = semantic
        self._speaker = speaker
        self._table = table
        self._mel = MelSpectrum()

    def shard(self, shard: Shard) -> list[Encoded]:
        pcm = shard.pcm()
        parts = (
            (entry, pcm[entry.offset : entry.offset + entry.length]) for entry in shard.entries
        )
        return [
            self._utterance(entry, part.astype(np.float32) / np.float32(32768))
            for entry, part in parts
        ]

    @torch.no_grad()
    def _utterance(self, entry: Entry, pcm: npt.NDArray[np.float32]) -> Encoded:
        phones = aligned_phones(entry, self._table)
        steps = min(len(pcm), entry.end + CLOSING * TOKEN_SAMPLES) // TOKEN_SAMPLES
        samples = torch.from_numpy(pcm[: steps * TOKEN_SAMPLES])
        marks = np.zeros(len(phones["ids"]), np.int8)
        for before, number in phones["marks"]:
            if before:
                marks[before - 1] = _MARK_OF[int(number)]
        return Encoded(
            entry.speaker,
            self._semantic.encode(samples).numpy().astype(np.int16),
            self._mel(samples[None])[0].numpy().astype(np.float16),
            said_by(phones["starts"], entry.end, steps).astype(np.int16),
            phones["ids"].astype(np.int16),
            marks,
            speaker_vector(self._speaker, pcm),
            entry.syllables,
        )


def said_by(starts: Ints, end: int, steps: int) -> Ints:
    """The unit of each token [steps]: 0 before the first phone's start, the last one from `end` on;
    starts and end in samples.
    """
    middles = TOKEN_SAMPLES * np.arange(steps) + TOKEN_SAMPLES // 2
    return np.searchsorted(np.append(starts, end), middles, side="right")


def read_tokens(run: Run) -> Sides:
    """All encoded utterances of a run. InvalidInput when there are none to train on."""
    everybody: dict[int, list[Encoded]] = {}
    for file in sorted(run.stage("tokens").glob("*.safetensors")):
        for each in _read(file):
            everybody.setdefault(each.speaker, []).append(each)
    return Sides(*divided(run.recipe, everybody))


def _read(file: Path) -> list[Encoded]:
    rows: dict[str, dict[str, npt.NDArray[Any]]] = {}
    for name, array in sorted(load_file(file).items()):
        number, part = name.split("/")
        rows.setdefault(number, {})[part] = array
    utterances = []
    for row in rows.values():
        speaker, syllables = (int(value) for value in row.pop("about"))
        utterances.append(Encoded(speaker=speaker, syllables=syllables, **row))
    return utterances


def own_rate(utterances: Sequence[Encoded]) -> float:
    """Syllables per second from the first phone to the last: near the rate at which a transducer
    trained on them speaks.
    """
    tokens = sum(
        int(((each.spoken_by > 0) & (each.spoken_by <= len(each.phones))).sum())
        for each in utterances
    )
    return (
        sum(each.syllables for each in utterances) * SAMPLE_RATE / (max(1, tokens) * TOKEN_SAMPLES)
    )
