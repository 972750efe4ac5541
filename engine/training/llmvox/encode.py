"""The stage `encode` of LLMVoX: every sentence as tokens and units, with the tokens at which its
words begin and the unit that each token says.

Invariant: a sentence with fewer tokens than units is left out: one unit is read a token, so its
text would not be read to the end.
"""

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import torch
from safetensors.numpy import load_file, save_file

from engine.text.phonemes import Espeak
from engine.training.corpus.rooms import in_a_room
from engine.training.corpus.shards import Entry, read_shards
from engine.training.corpus.speakers import cast
from engine.training.corpus.utterance import SAMPLE_RATE
from engine.training.guide import places
from engine.training.llmvox.tokens import Tokeniser, read_tokeniser
from engine.training.run import Progress, Run, cancellable, write_json
from engine.training.voice.encode import phone_ids, phoned_words, speaker_vector
from engine.tts.llmvox.config import TOKEN_SAMPLES, WORD, Units
from engine.tts.llmvox.units import reader
from engine.tts.phones import PhoneTable
from engine.tts.speaker.small import SmallSpeaker, load_small_speaker

NOISY: Final = 0.5  # share of the vectors that are made of noisy recordings
_KINDS: Final[dict[str, type[np.generic]]] = {
    "index": np.int32, "vectors": np.float32, "tokens": np.int16, "units": np.int16,
    "onsets": np.int32, "said": np.int16,
}  # fmt: skip
_EMPTY: Final = {"index": (0, 4), "vectors": (0, 192)}
Row = Mapping[str, npt.NDArray[Any]]


@dataclass(frozen=True)
class Encoded:
    """One sentence: its tokens [T], its units [U], the tokens at which its words begin, and the
    unit that every token says [T], -1 before the first word.
    """

    speaker: int
    tokens: npt.NDArray[np.int16]
    units: npt.NDArray[np.int16]
    onsets: npt.NDArray[np.int32]
    said: npt.NDArray[np.int16]
    vector: npt.NDArray[np.float32]


@dataclass(frozen=True)
class Sides:
    """Sentences to train on and to validate with, and those to train on by speaker."""

    training: tuple[Encoded, ...]
    validation: tuple[Encoded, ...]

    @property
    def people(self) -> dict[int, tuple[Encoded, ...]]:
        numbers = {each.speaker for each in self.training}
        return {n: tuple(each for each in self.training if each.speaker == n) for n in numbers}


def encode_corpus(run: Run) -> None:
    """Encode all shards that are not encoded yet, in this process."""
    inputs = run.require("corpus", "codec", "speaker")
    folder = run.stage("encode")
    shards = read_shards(run.stage("corpus"))
    ids = phone_ids(shards, run.recipe.corpus.rare_phone)
    write_json(folder / "phones.json", ids)
    work = _Work(
        read_tokeniser(run),
        load_small_speaker(run.stage("speaker") / "speaker.safetensors"),
        PhoneTable(ids),
        Units(run.recipe.llmvox.units),
    )
    progress = Progress("encode", len(shards))
    with cancellable() as check:
        for count, shard in enumerate(shards, start=1):
            check()
            pcm = shard.pcm()
            draw = random.Random(f"{run.recipe.seed} prompts {shard.index.stem}")
            rows = [row for entry in shard.entries for row in work.rows(entry, pcm, draw)]
            _write(folder / f"{shard.index.stem}.safetensors", rows)
            progress.report(count, "shards")
    run.finish("encode", inputs, phones=len(ids))


def read_encoded(run: Run) -> Sides:
    """All sentences of speakers that are trained on."""
    left_out = {person.number for person in cast(run.recipe) if person.held_out}
    every = [
        each
        for file in sorted(run.stage("encode").glob("[0-9]*.safetensors"))
        for each in _sentences(file)
        if each.speaker not in left_out
    ]
    step = max(2, round(1 / max(1e-6, run.recipe.corpus.validation_share)))
    validation = tuple(every[::step])
    training = tuple(each for n, each in enumerate(every) if n % step)
    return Sides(training or validation, validation)


class _Work:
    """Encodes utterances."""

    def __init__(
        self, tokeniser: Tokeniser, speaker: SmallSpeaker, table: PhoneTable, units: Units
    ) -> None:
        self._tokeniser, self._speaker = tokeniser, speaker
        self._table, self._units = table, units
        self._espeak = Espeak()

    def rows(self, entry: Entry, pcm: npt.NDArray[np.int16], draw: random.Random) -> Iterator[Row]:
        """The utterance, if it has a token for every unit and its words agree with its phones."""
        part = pcm[entry.offset : entry.offset + entry.length // 960 * 960]
        whole = part.astype(np.float32) / np.float32(32768)
        recorded = in_a_room(whole, SAMPLE_RATE, draw) if draw.random() < NOISY else whole
        units, words = self._words(entry)
        if not words or units.count(WORD) != len(words):
            return
        tokens = self._tokeniser.encode(torch.from_numpy(whole)[None])[0].numpy()
        onsets = [phones[0] for phones in words]
        if len(tokens) <= len(units) or onsets[-1] >= len(tokens):
            return
        yield {
            "index": np.asarray([(entry.speaker, len(tokens), len(units), len(onsets))]),
            "vectors": speaker_vector(self._speaker, recorded)[None],
            "tokens": tokens,
            "units": np.asarray(units),
            "onsets": np.asarray(onsets),
            "said": np.asarray(_said(units, words, len(tokens))),
        }

    def _words(self, entry: Entry) -> tuple[list[int], list[list[int]]]:
        """Units of the text, and the tokens at which the phones of its sounding words begin; no
        words where text and phones do not agree.
        """
        phoned = phoned_words(entry, self._espeak)
        begins = iter(start // TOKEN_SAMPLES for start in entry.starts)
        spoken = [list(islice(begins, len(word.phones))) for word in phoned if word.phones]
        units = reader(self._units, self._espeak, self._table)
        words = [word for text in entry.text.split() for word in units.push(text)]
        words += units.finish()
        return [unit for word in words for unit in word.units], spoken


def _said(units: Sequence[int], words: Sequence[Sequence[int]], tokens: int) -> list[int]:
    """The unit that every token says; words as the tokens at which their phones begin."""
    said = [-1] * words[0][0]
    ends = [place for place, unit in enumerate(units) if unit == WORD]
    overs = [*(phones[0] for phones in words[1:]), tokens]
    first = 0
    for phones, end, over in zip(words, ends, overs, strict=True):
        said += places(first, end - first, phones, over)
        first = end + 1
    return said


def _write(file: Path, rows: list[Row]) -> None:
    arrays = {
        name: np.concatenate(
            [np.zeros(_EMPTY.get(name, (0,)), kind), *(row[name] for row in rows)]
        ).astype(kind)
        for name, kind in _KINDS.items()
    }
    partial = file.with_suffix(".partial")
    save_file(arrays, partial)
    partial.replace(file)


def _sentences(file: Path) -> list[Encoded]:
    arrays = load_file(file)
    token = unit = onset = 0
    sentences = []
    for place, (speaker, tokens, units, onsets) in enumerate(arrays["index"].tolist()):
        sentences.append(
            Encoded(
                speaker,
                arrays["tokens"][token : token + tokens],
                arrays["units"][unit : unit + units],
                arrays["onsets"][onset : onset + onsets],
                arrays["said"][token : token + tokens],
                arrays["vectors"][place],
            )
        )
        token, unit, onset = token + tokens, unit + units, onset + onsets
    return sentences
