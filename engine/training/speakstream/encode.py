"""The stage `encode` of SpeakStream: every utterance as a spectrum, its words with their first
positions, and a speaker vector; for the whole corpus the scale of the levels and the usual rate.

Invariant: a word's speech reaches to the next word, so a pause belongs to the word before it, as
in VoXtream2, 4.1.
"""

import random
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import torch
from safetensors.numpy import load_file, save_file

from engine.codec.mel import BANDS, COLUMN, Levels, MelSpectrum
from engine.text.phonemes import Espeak
from engine.training.corpus.rooms import in_a_room
from engine.training.corpus.shards import Entry, Shard, read_shard, read_shards
from engine.training.corpus.speakers import divided
from engine.training.corpus.utterance import SAMPLE_RATE
from engine.training.guide import places
from engine.training.run import Run, file_hash, read_json, write_json
from engine.training.tasks import Place, Result, Task, do_tasks
from engine.training.voice.encode import Arrays, phone_ids, phoned_words, speaker_vector
from engine.tts.phones import PhoneTable
from engine.tts.speaker.small import load_small_speaker
from engine.tts.speakstream.config import COLUMNS
from engine.tts.speakstream.script import Script

NOISY: Final = 0.5  # share of the vectors that are made of noisy recordings, as in VoXtream2's runs
ENDS: Final = (0.005, 0.9995)  # quantiles of the values, where the lowest and the highest level lie
ABOUT: Final = "scale.json"
_POSITION: Final = COLUMN * COLUMNS  # samples
_KINDS: Final[dict[str, type[np.generic]]] = {
    "index": np.int32, "mel": np.float16, "vectors": np.float32, "ids": np.int16,
    "sizes": np.int16, "starts": np.int32, "said": np.int16, "rates": np.float32,
}  # fmt: skip


@dataclass(frozen=True)
class Encoded:
    """One utterance: spectrum [T, BANDS], every sounding word's ids, the positions at which the
    words begin and the last one ends [words + 1], and which of its word's ids every position says,
    from the first word on [positions].
    """

    speaker: int
    mel: npt.NDArray[np.float16]
    vector: npt.NDArray[np.float32]
    words: tuple[npt.NDArray[np.int16], ...]
    starts: npt.NDArray[np.int32]
    said: npt.NDArray[np.int16]

    @property
    def positions(self) -> int:
        return int(self.starts[-1] - self.starts[0])


@dataclass(frozen=True)
class Scale:
    """What the utterances of a corpus have in common: ends of the levels, and the mean rate."""

    lowest: float
    highest: float
    pace: float

    @property
    def levels(self) -> Levels:
        return Levels(self.lowest, self.highest)


People = dict[int, tuple[Encoded, ...]]  # utterances by speaker


@dataclass(frozen=True)
class Sides:
    """Those to train on and those to validate with."""

    training: People
    validation: People


def encode_corpus(run: Run) -> None:
    """Encode all shards that are not encoded yet."""
    inputs = run.require("corpus", "speaker")
    folder = run.stage("encode")
    shards = read_shards(run.stage("corpus"))
    table, speaker = folder / "phones.json", run.stage("speaker") / "speaker.safetensors"
    write_json(table, phone_ids(shards, run.recipe.corpus.rare_phone))
    hashes = tuple(map(file_hash, (speaker, table)))
    tasks = []
    for shard in shards:
        output = folder / f"{shard.index.stem}.safetensors"
        places = (Place(shard.index), Place(output), Place(speaker), Place(table))
        depends = (*hashes, file_hash(shard.index))
        task = Task(f"shard/{shard.index.stem}", encode_shard, (*places, run.recipe.seed), depends)
        if not output.is_file():
            task.file(folder).unlink(missing_ok=True)
        tasks.append(task)
    do_tasks("encode", folder, tasks, run.workers)
    scale = _scale(sorted(folder.glob("[0-9]*.safetensors")))
    write_json(folder / ABOUT, asdict(scale))
    run.finish("encode", inputs, **asdict(scale))


def read_encoded(run: Run) -> Sides:
    """All encoded utterances of speakers that are trained on. InvalidInput when there are none."""
    people: dict[int, list[Encoded]] = {}
    for file in sorted(run.stage("encode").glob("[0-9]*.safetensors")):
        for utterance in _utterances(file):
            people.setdefault(utterance.speaker, []).append(utterance)
    return Sides(*divided(run.recipe, people))


def read_scale(run: Run) -> Scale:
    """What encode_corpus() measured."""
    return Scale(**read_json(run.stage("encode") / ABOUT))


def encode_shard(index: str, output: str, speaker: str, table: str, seed: int) -> Result:
    """Encode the shard of a JSON file into the file `output`. How many utterances it has."""
    shard = read_shard(Path(index))
    work = _Work(Path(speaker), PhoneTable(read_json(Path(table))), seed)
    rows = list(work.encoded(shard))
    gathered: Arrays = {
        name: np.concatenate([np.zeros(_empty(name), kind), *(row[name] for row in rows)]).astype(
            kind
        )
        for name, kind in _KINDS.items()
    }
    partial = Path(output).with_suffix(".partial")
    save_file(gathered, partial)
    partial.replace(output)
    return {"utterances": len(rows)}


def _empty(name: str) -> tuple[int, ...]:
    """The shape of no rows."""
    return {"index": (0, 4), "mel": (0, BANDS), "vectors": (0, 192)}.get(name, (0,))


class _Work:
    """Encodes shards with one speaker encoder and one table."""

    def __init__(self, speaker: Path, table: PhoneTable, seed: int) -> None:
        self._speaker = load_small_speaker(speaker)
        self._table, self._seed = table, seed
        self._spectrum = MelSpectrum()
        self._espeak = Espeak()

    def encoded(self, shard: Shard) -> Sequence[Mapping[str, npt.NDArray[Any]]]:
        pcm = shard.pcm()
        draw = random.Random(f"{self._seed} prompts {shard.index.stem}")
        rows = []
        for entry in shard.entries:
            part = pcm[entry.offset : entry.offset + entry.length]
            whole = part.astype(np.float32) / np.float32(32768)
            recorded = in_a_room(whole, SAMPLE_RATE, draw) if draw.random() < NOISY else whole
            row = self._row(entry, whole, recorded)
            if row is not None:
                rows.append(row)
        return rows

    def _row(
        self, entry: Entry, pcm: npt.NDArray[np.float32], recorded: npt.NDArray[np.float32]
    ) -> Mapping[str, npt.NDArray[Any]] | None:
        mel = self._spectrum(torch.from_numpy(pcm)[None])[0].numpy()
        aligned = self._words(entry, len(mel) // COLUMNS)
        if aligned is None:
            return None
        words, starts, said = aligned
        ids = np.concatenate(words)
        sizes = (entry.speaker, len(mel), len(words), len(ids))
        return {
            "index": np.asarray([sizes]),
            "mel": mel,
            "vectors": speaker_vector(self._speaker, recorded)[None],
            "ids": ids,
            "sizes": np.asarray([len(word) for word in words]),
            "starts": starts,
            "said": np.asarray(said),
            "rates": np.asarray([entry.rate]),
        }

    def _words(
        self, entry: Entry, positions: int
    ) -> tuple[list[npt.NDArray[np.int64]], npt.NDArray[np.int64], list[int]] | None:
        """Every sounding word's ids, the positions between them, and what every position says of
        its word; None where the text and the phones that were spoken do not agree.
        """
        script, phoned = Script(self._table), phoned_words(entry, self._espeak)
        first_phones = np.cumsum([0, *(len(word.phones) for word in phoned)])
        for word in phoned:
            script.add(word)
        if not script.words:
            return None
        begins = [round(start / _POSITION) for start in entry.starts]
        spoken = [begins[slice(*first_phones[word.last :][:2])] for word in script.words]
        starts = np.asarray([*(phones[0] for phones in spoken), positions])
        if (np.diff(starts) < 1).any():
            return None
        words = zip(script.words, spoken, starts[1:].tolist(), strict=True)
        said = [n for word, phones, end in words for n in places(0, len(word.ids), phones, end)]
        return [np.asarray(word.ids) for word in script.words], starts, said


def _utterances(file: Path) -> list[Encoded]:
    arrays = load_file(file)
    utterances = []
    column = word = number = position = 0
    for place, (speaker, columns, words, ids) in enumerate(arrays["index"].tolist()):
        sizes = arrays["sizes"][word : word + words]
        own = arrays["ids"][number : number + ids]
        # A row has one more start than words.
        starts = arrays["starts"][word + place : word + place + words + 1]
        spoken = int(starts[-1] - starts[0])
        utterances.append(
            Encoded(
                speaker,
                arrays["mel"][column : column + columns],
                arrays["vectors"][place],
                tuple(np.split(own, np.cumsum(sizes)[:-1])),
                starts,
                arrays["said"][position : position + spoken],
            )
        )
        column, word, number = column + columns, word + words, number + ids
        position += spoken
    return utterances


def _scale(files: Sequence[Path]) -> Scale:
    """Measure the scale on some hundred columns of every shard."""
    columns, rates = [], []
    for file in files:
        arrays = load_file(file)
        columns.append(arrays["mel"][:: max(1, len(arrays["mel"]) // 500)].astype(np.float32))
        rates.append(arrays["rates"])
    lowest, highest = np.quantile(np.concatenate(columns), ENDS)
    return Scale(float(lowest), float(highest), float(np.concatenate(rates).mean()))
