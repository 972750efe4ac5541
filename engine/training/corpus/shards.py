"""The corpus on disk: shards of about ten minutes, a FLAC file and a JSON file each.

Invariant: the JSON file is written last, so a shard is either complete or absent.
"""

from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import soundfile

from engine.training.corpus.utterance import SAMPLE_RATE, Entry, Utterance
from engine.training.run import read_json, write_json


@dataclass(frozen=True)
class Shard:
    """A shard's index. The samples stay on disk until pcm() reads them."""

    sound: Path
    entries: tuple[Entry, ...]

    @property
    def index(self) -> Path:
        """The shard's JSON file."""
        return self.sound.with_suffix(".json")

    def pcm(self) -> npt.NDArray[np.int16]:
        """The samples of the entire shard."""
        samples: npt.NDArray[np.int16] = soundfile.read(self.sound, dtype="int16")[0]
        return samples

    def spoken(self) -> Iterator[tuple[Entry, npt.NDArray[np.float32]]]:
        """Yield every utterance with its fp32 samples."""
        pcm = self.pcm()
        for entry in self.entries:
            part = pcm[entry.offset : entry.offset + entry.length]
            yield entry, part.astype(np.float32) / np.float32(32768)

    @property
    def seconds(self) -> float:
        return sum(entry.length for entry in self.entries) / SAMPLE_RATE


def index_file(folder: Path, number: int) -> Path:
    return folder / f"{number:04d}.json"


def write_shard(folder: Path, number: int, utterances: Sequence[Utterance], key: str) -> None:
    """Write a shard with `key`, the fingerprint of its recipe. After an interrupted write there is
    no shard.
    """
    index = index_file(folder, number)
    sound = index.with_suffix(".flac")
    partial = index.with_suffix(".partial")
    parts = [
        np.clip(utterance.pcm * 32767, -32768, 32767).astype(np.int16) for utterance in utterances
    ]
    pcm = np.concatenate(parts) if parts else np.zeros(1, np.int16)
    soundfile.write(partial, pcm, SAMPLE_RATE, format="FLAC", subtype="PCM_16")
    partial.replace(sound)
    offset, entries = 0, list[dict[str, Any]]()
    for utterance, part in zip(utterances, parts, strict=True):
        row = {each.name: getattr(utterance, each.name) for each in fields(Entry)}
        row |= {"phones": " ".join(utterance.phones), "offset": offset, "length": len(part)}
        entries.append(row)
        offset += len(part)
    write_json(index, {"key": key, "utterances": entries})


def delete_others(folder: Path, key: str, numbers: Container[int]) -> None:
    """Delete the shards of other recipes, and those whose number is not in `numbers`."""
    for index in folder.glob("[0-9]*.json"):
        if int(index.stem) not in numbers or read_json(index).get("key") != key:
            index.unlink()
            index.with_suffix(".flac").unlink(missing_ok=True)


def read_shards(folder: Path) -> tuple[Shard, ...]:
    """Read all finished shards in order."""
    return tuple(map(read_shard, sorted(folder.glob("[0-9]*.json"))))


def read_shard(index: Path) -> Shard:
    """Read a finished shard by its JSON file."""
    entries = []
    for row in read_json(index)["utterances"]:
        marks = tuple((int(count), str(mark)) for count, mark in row["marks"])
        row |= {"phones": tuple(row["phones"].split()), "starts": tuple(row["starts"])}
        entries.append(Entry(**row | {"marks": marks}))
    return Shard(index.with_suffix(".flac"), tuple(entries))
