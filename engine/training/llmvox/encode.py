"""The stage `encode` of LLMVoX: every sentence as tokens and units, with the tokens at which its
words begin and the unit that each token says.

Splices are sentences put together from stretches of words of a speaker's other sentences. A few
hours of speech are soon known by heart, and then the next token follows from those before, whatever
the text says; what comes after a splice only the text can tell.

Invariant: a sentence with fewer tokens than units is left out: one unit is read a token, so its
text would not be read to the end. A splice begins as one of its sentences does and ends as another
does.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt

from engine.codec.mel import MelSpectrum
from engine.text.phonemes import Espeak
from engine.training.codebook import FILE, TOKEN_SAMPLES, load_codebook, steps_of
from engine.training.corpus.shards import Entry, Shard
from engine.training.encoded import encode_shards
from engine.training.run import Run, read_json
from engine.training.stacks import places
from engine.training.voice.encode import phoned_words, speaker_vector
from engine.tts.llmvox.config import WORD
from engine.tts.llmvox.units import PhoneUnits
from engine.tts.pack_files import PHONES_FILE
from engine.tts.phones import PhoneTable
from engine.tts.speaker.small import load_small_speaker

PARTS: Final = (3, 10)  # stretches of a splice, at least and at most
LONGEST: Final = 3  # words of a stretch, but for the last, which ends a sentence


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


def encode_corpus(run: Run) -> None:
    """Encode all shards that are not encoded yet."""
    inputs, codebook = run.require("corpus", "codebook", "speaker"), run.stage("codebook")
    speaker = run.stage("speaker") / "speaker.safetensors"
    files = (codebook / FILE, codebook / PHONES_FILE, speaker)
    encode_shards(run, "encode", _Work, files)
    run.finish("encode", inputs)


class _Work:
    """Encodes utterances."""

    def __init__(self, codebook: str, table: str, speaker: str) -> None:
        self._codebook = load_codebook(Path(codebook))
        self._ids = read_json(Path(table))
        self._speaker = load_small_speaker(Path(speaker))
        self._mel, self._espeak = MelSpectrum(), Espeak()

    def encoded(self, shard: Shard) -> list[Encoded]:
        sentences = (self._sentence(entry, pcm) for entry, pcm in shard.spoken())
        return [each for each in sentences if each is not None]

    def _sentence(self, entry: Entry, pcm: npt.NDArray[np.float32]) -> Encoded | None:
        """None unless it has a token for every unit and its words agree with its phones."""
        units, words = self._words(entry)
        if not words or units.count(WORD) != len(words):
            return None
        steps = steps_of(entry, pcm, self._ids, self._mel)
        tokens = self._codebook.tokens(entry.speaker, steps)
        onsets = [phones[0] for phones in words]
        if len(tokens) <= len(units) or onsets[-1] >= len(tokens):
            return None
        return Encoded(
            entry.speaker,
            tokens,
            np.asarray(units, np.int16),
            np.asarray(onsets, np.int32),
            np.asarray(_said(units, words, len(tokens)), np.int16),
            speaker_vector(self._speaker, pcm),
        )

    def _words(self, entry: Entry) -> tuple[list[int], list[list[int]]]:
        """Units of the text, and the tokens at which the phones of its sounding words begin; no
        words where text and phones do not agree.
        """
        phoned = phoned_words(entry, self._espeak)
        begins = iter(start // TOKEN_SAMPLES for start in entry.starts)
        spoken = [list(islice(begins, len(word.phones))) for word in phoned if word.phones]
        units = PhoneUnits(self._espeak, PhoneTable(self._ids))
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


def spliced(person: Sequence[Encoded], draw: random.Random) -> Encoded:
    """A sentence of stretches of words of a speaker's sentences."""
    count = draw.randint(*PARTS)
    pieces = []
    for place in range(count):
        sentence = draw.choice(person)
        words = len(sentence.onsets)
        last_one = place == count - 1
        first = draw.randrange(max(0, words - LONGEST) if last_one else 0, words) if place else 0
        last = words if last_one else draw.randint(first + 1, min(words, first + LONGEST))
        pieces.append(_stretch(sentence, first, last, opens=not place))
    units = np.cumsum([0, *(len(piece.units) for piece in pieces)])
    tokens = np.cumsum([0, *(len(piece.tokens) for piece in pieces)])
    said = [np.where(p.said < 0, p.said, p.said + u) for p, u in zip(pieces, units, strict=False)]
    onsets = [piece.onsets + token for piece, token in zip(pieces, tokens, strict=False)]
    return replace(
        pieces[0],
        tokens=np.concatenate([piece.tokens for piece in pieces]),
        units=np.concatenate([piece.units for piece in pieces]),
        onsets=np.concatenate(onsets),
        said=np.concatenate(said),
    )


def _stretch(sentence: Encoded, first: int, last: int, *, opens: bool) -> Encoded:
    """Its words from `first` up to `last`, with the silence before them where it `opens`; what
    follows the last one belongs to it.
    """
    ends = np.flatnonzero(sentence.units == WORD) + 1
    begin = int(ends[first - 1]) if first else 0
    start = 0 if opens else int(sentence.onsets[first])
    over = int(sentence.onsets[last]) if last < len(sentence.onsets) else len(sentence.tokens)
    said = sentence.said[start:over]
    return replace(
        sentence,
        tokens=sentence.tokens[start:over],
        units=sentence.units[begin : ends[last - 1]],
        onsets=sentence.onsets[first:last] - start,
        said=np.where(said < 0, said, said - begin),
    )
