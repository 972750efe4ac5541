"""The corpus encoded for a system. Tasks write one file for each shard; it contains the utterances
as dataclasses of arrays and numbers.

Invariant: reading returns what was written, in the shard's order.
"""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import soxr
import torch
from safetensors.numpy import load_file, save_file
from torch.nn import functional

from engine.text.phonemes import Espeak, PhonedWord, is_nucleus
from engine.training.corpus.shards import Shard, floats, read_shard, read_shards
from engine.training.corpus.speakers import Sides, split
from engine.training.corpus.utterance import SAMPLE_RATE, Entry
from engine.training.run import (
    Run,
    Task,
    file_hash,
    fingerprint,
    metadata,
    read_json,
    run_tasks,
    write_json,
)
from engine.tts.kokoro.windows import phoned
from engine.tts.pack_files import PHONES_FILE
from engine.tts.phones import MARKS, PhoneTable, own_ids
from engine.tts.speaker.small import SAMPLE_RATE as SPEAKER_RATE
from engine.tts.speaker.small import load_small_speaker

Pcm = npt.NDArray[np.float32]


@dataclass(frozen=True)
class Utterance:
    """The fields of an encoded utterance that all systems have; each system adds its own arrays."""

    speaker: int
    vector: npt.NDArray[np.float32]  # of the speaker, of length 1


class ShardEncoder(ABC):
    """Encodes utterances with one table of phones and one speaker encoder."""

    def __init__(self, table: Path, speaker: Path) -> None:
        self.ids: dict[str, int] = read_json(table)
        self.table = PhoneTable(self.ids)
        self._speaker = load_small_speaker(speaker)

    @abstractmethod
    def utterance(self, place: int, entry: Entry, pcm: Pcm) -> Any:
        """Encode utterance number `place` of a shard; None if text and sound do not agree."""

    @torch.inference_mode()
    def vector(self, pcm: Pcm) -> Pcm:
        """Return the speaker's unit vector from samples [S] at 24 kHz."""
        samples = torch.from_numpy(soxr.resample(pcm, SAMPLE_RATE, SPEAKER_RATE))
        return np.asarray(functional.normalize(self._speaker.embed(samples), dim=0))


_Kind = TypeVar("_Kind", bound=Utterance)
_Any = TypeVar("_Any")
Encoder = Callable[..., ShardEncoder]


def encode_shards(run: Run, encoder: Encoder, files: Sequence[Path], *values: Any) -> None:
    """Encode all shards that are not encoded yet, with the picklable `encoder(*files, *values)`."""
    folder, tasks, outputs = run.stage("encode"), list[Task](), set[Path]()
    hashes = tuple(map(file_hash, files))
    for shard in read_shards(run.stage("corpus")):
        output = shard_file(folder, shard)
        key = fingerprint(encoder.__module__, hashes, values, file_hash(shard.index))
        if not output.is_file() or metadata(output).get("key") != key:
            arguments = (shard.index, output, key, encoder, (*files, *values))
            tasks.append(Task(shard.index.stem, _encode_shard, arguments))
        outputs.add(output)
    run_tasks("encode", tasks, run.workers)
    for file in set(folder.glob("[0-9]*.safetensors")) - outputs:  # of deleted shards
        file.unlink()


def shard_file(folder: Path, shard: Shard) -> Path:
    """The file of a shard in a stage's folder."""
    return folder / f"{shard.index.stem}.safetensors"


def write(file: Path, utterances: Sequence[Any], key: str = "") -> None:
    """Write dataclasses of arrays and numbers to a file, with the fingerprint of their origin."""
    arrays = {
        f"{number:05d}/{field.name}": np.asarray(getattr(each, field.name), order="C")
        for number, each in enumerate(utterances)
        for field in fields(each)
    }
    partial = file.with_suffix(".partial")
    save_file(arrays, partial, {"key": key})
    partial.replace(file)


def read(file: Path, kind: type[_Any]) -> list[_Any]:
    """Read a file's utterances as the dataclass `kind`."""
    rows: dict[str, dict[str, Any]] = {}
    for key, array in sorted(load_file(file).items()):
        number, name = key.split("/")
        rows.setdefault(number, {})[name] = array if array.ndim else array.item()
    names = [each.name for each in fields(kind)]  # type: ignore[arg-type]
    return [kind(**{name: row[name] for name in names}) for row in rows.values()]


def read_sides(run: Run, kind: type[_Kind]) -> Sides[_Kind]:
    """Read the encoded utterances, split into sides. InvalidInput if there are none to train on."""
    files = sorted(run.stage("encode").glob("[0-9]*.safetensors"))
    return split(run.recipe, (each for file in files for each in read(file, kind)))


def mean_vector(person: Sequence[Utterance]) -> Pcm:
    """Return the mean of a speaker's vectors, as a unit vector."""
    mean = np.mean([each.vector for each in person], axis=0)
    return np.asarray(mean / (np.linalg.norm(mean) + 1e-9), np.float32)


def write_phones(run: Run, ids: Mapping[str, int] | None = None) -> Path:
    """Write the table of phone ids beside the encoded corpus; return its file. `ids` = None is our
    own numbering without phones that are rare in the corpus; they are then spelt with similar ones.
    """
    if ids is None:
        entries = (each for shard in read_shards(run.stage("corpus")) for each in shard.entries)
        counts = Counter(phone for entry in entries for phone in entry.phones)
        fewest = run.recipe.corpus.rare_phone
        ids = {phone: number for phone, number in own_ids().items() if counts[phone] >= fewest}
    file = run.stage("encode") / PHONES_FILE
    write_json(file, ids)
    return file


def phoned_words(entry: Entry, espeak: Espeak) -> list[PhonedWord]:
    """Return the words of an utterance's text with their phones; none if others were spoken."""
    words = phoned(espeak, entry.text)
    same = tuple(phone for word in words for phone in word.phones) == entry.phones
    return words if same else []


def aligned_phones(entry: Entry, table: PhoneTable) -> dict[str, npt.NDArray[Any]]:
    """Return arrays by name: `phones` (their ids), their `starts` in samples, `nuclei` (1 for the
    vowel of a syllable), and `marks` as pairs (number of ids before it, its id) [M, 2].
    """
    rows: list[tuple[int, int, bool]] = []
    before = [0]  # ids before each phone
    ends = [*entry.starts[1:], entry.end]
    for phone, start, end in zip(entry.phones, entry.starts, ends, strict=True):
        numbers = table.ids(phone)
        for place, number in enumerate(numbers):
            begin = start + (end - start) * place // len(numbers)
            rows.append((number, begin, place == 0 and is_nucleus(phone)))
        before.append(len(rows))
    ids, starts, nuclei = np.asarray(rows, np.int64).reshape(-1, 3).T
    marks = [(before[count], MARKS[mark]) for count, mark in entry.marks]
    return {
        "phones": ids.astype(np.int16),
        "starts": starts,
        "nuclei": nuclei.astype(np.int8),
        "marks": np.asarray(marks, np.int16).reshape(-1, 2),
    }


def _encode_shard(
    index: Path, output: Path, key: str, kind: Encoder, values: tuple[Any, ...]
) -> None:
    """Task: write the utterances of one shard that can be encoded, in order."""
    encode, spoken = _encoder(kind, values).utterance, enumerate(read_shard(index).spoken())
    made = (encode(place, entry, floats(pcm)) for place, (entry, pcm) in spoken)
    write(output, [each for each in made if each is not None], key)


_encoder = lru_cache(maxsize=1)(lambda kind, values: kind(*values))  # loaded once in a process
