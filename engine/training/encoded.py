"""A corpus encoded for a system: a file a shard, made by tasks, in it every utterance as a
dataclass of arrays and numbers.

Invariant: what is read is what was written, in the shard's order.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, Generic, Protocol, TypeVar

import numpy as np
import numpy.typing as npt
from safetensors.numpy import load_file, save_file

from engine.errors import InvalidInput
from engine.training.corpus.shards import Shard, read_shard, read_shards
from engine.training.corpus.speakers import divided
from engine.training.run import Run, file_hash
from engine.training.tasks import Place, Result, Task, do_tasks

PLACES: Final = 5  # digits of an utterance's number


class Spoken(Protocol):
    """What every system's utterances say of themselves."""

    @property
    def speaker(self) -> int: ...


class Encoder(Protocol):
    """Encodes shards."""

    def encoded(self, shard: Shard) -> Sequence[Any]:
        """The utterances of a shard that could be encoded, dataclasses of one kind."""
        ...


_Kind = TypeVar("_Kind")
_Spoken = TypeVar("_Spoken", bound=Spoken)


People = dict[int, tuple[_Kind, ...]]
"""Utterances by speaker."""


@dataclass(frozen=True)
class Sides(Generic[_Kind]):
    """Those to train on and those to validate with."""

    training: People[_Kind]
    validation: People[_Kind]

    @property
    def utterances(self) -> list[_Kind]:
        """All to train on."""
        return [each for person in self.training.values() for each in person]


def encode_shards(
    run: Run,
    stage: str,
    encoder: Callable[..., Encoder],
    files: Sequence[Path],
    *given: Any,
    shards: Iterable[Shard] | None = None,
) -> None:
    """Encode all shards that are not encoded yet, by `encoder(*files, *given)`; `given` can be
    hashed and pickled. None of `shards` = the whole corpus.
    """
    folder, tasks, outputs = run.stage(stage), list[Task](), set[Path]()
    places, hashes = tuple(map(Place, files)), tuple(map(file_hash, files))
    for shard in read_shards(run.stage("corpus")) if shards is None else shards:
        output = shard_file(folder, shard)
        arguments = (Place(shard.index), Place(output), encoder, (*places, *given))
        depends = (*hashes, file_hash(shard.index))
        task = Task(f"shard/{shard.index.stem}", _encode_shard, arguments, depends)
        if not output.is_file():
            task.file(folder).unlink(missing_ok=True)
        tasks.append(task)
        outputs.add(output)
    do_tasks(stage, folder, tasks, run.workers if run.device == "cpu" else 1)
    for file in set(folder.glob("[0-9]*.safetensors")) - outputs:  # of shards that are gone
        file.unlink()


def shard_file(folder: Path, shard: Shard) -> Path:
    """Where what a stage made of a shard lies."""
    return folder / f"{shard.index.stem}.safetensors"


def write(file: Path, utterances: Sequence[Any]) -> None:
    """Write dataclasses of arrays, tuples of arrays and numbers; whole or not at all."""
    arrays: dict[str, npt.NDArray[Any]] = {}
    for number, each in enumerate(utterances):
        for field in fields(each):
            value, key = getattr(each, field.name), f"{number:0{PLACES}d}/{field.name}"
            if isinstance(value, tuple):
                arrays |= {f"{key}/{n:0{PLACES}d}": part for n, part in enumerate(value)}
            else:
                arrays[key] = value
    partial = file.with_suffix(".partial")
    save_file({key: np.asarray(value, order="C") for key, value in arrays.items()}, partial)
    partial.replace(file)


def read(file: Path, kind: type[_Kind]) -> list[_Kind]:
    """The utterances in a file, as the dataclass `kind`. InvalidInput when it holds others."""
    rows: dict[str, dict[str, Any]] = {}
    for key, array in sorted(load_file(file).items()):
        number, _, name = key.partition("/")
        name, _, part = name.partition("/")
        row = rows.setdefault(number, {})
        if part:
            row[name] = (*row.get(name, ()), array)
        else:
            row[name] = array if array.ndim else array.item()
    try:
        return [kind(**row) for row in rows.values()]
    except TypeError as error:
        raise InvalidInput(
            "{file} was written by an older version.",
            hint="Do its stage once more: --again.",
            file=file,
        ) from error


def by_speaker(folder: Path, kind: type[_Spoken]) -> dict[int, list[_Spoken]]:
    """All utterances that a stage encoded into its folder."""
    people: dict[int, list[_Spoken]] = {}
    for each in every(folder, kind):
        people.setdefault(each.speaker, []).append(each)
    return people


def every(folder: Path, kind: type[_Kind]) -> Iterator[_Kind]:
    """All utterances in a folder, in order."""
    for file in sorted(folder.glob("[0-9]*.safetensors")):
        yield from read(file, kind)


def read_sides(run: Run, stage: str, kind: type[_Spoken]) -> Sides[_Spoken]:
    """All utterances of speakers that are trained on. InvalidInput when there are none."""
    people: Mapping[int, Sequence[_Spoken]] = by_speaker(run.stage(stage), kind)
    return Sides(*divided(run.recipe, people))


def _encode_shard(
    index: str, output: str, kind: Callable[..., Encoder], given: tuple[Any, ...]
) -> Result:
    utterances = _encoder(kind, given).encoded(read_shard(Path(index)))
    write(Path(output), utterances)
    return {"utterances": len(utterances)}


_encoder = lru_cache(maxsize=1)(lambda kind, given: kind(*given))  # loaded once in a process
