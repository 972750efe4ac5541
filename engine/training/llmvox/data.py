"""The training data of LLMVoX. The stage `encode` turns each sentence into speech tokens and text
units, with the first token of each word and the unit that each token speaks.

A splice is an artificial sentence, joined from runs of words of one speaker's sentences. A network
soon memorises a few hours of speech, and then predicts the next token from the tokens before,
whatever the text. After a join only the text says which word follows.

Invariants: a sentence with fewer tokens than units is left out, because one unit is read with each
token and its text would not be read to the end. A splice begins with a sentence's beginning and
ends with a sentence's end.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt

from engine.text.phonemes import Espeak
from engine.training.corpus.utterance import Entry
from engine.training.networks import spoken_units
from engine.training.run import Run
from engine.training.smlle.tokens import TOKEN_SAMPLES, TokenEncoder, TokenUtterance, make_codebook
from engine.training.utterances import Pcm, encode_shards, phoned_words
from engine.tts.llmvox.model import WORD
from engine.tts.llmvox.units import PhoneUnits

PARTS: Final = (3, 10)  # stretches of a splice, at least and at most
LONGEST: Final = 3  # words of a stretch, but for the last, which ends a sentence


@dataclass(frozen=True)
class SentenceUtterance(TokenUtterance):
    """A sentence: `units` [U] of its text, `onsets` [words] the first token of each word, `said`
    [T] the index of the unit that each token speaks, -1 before the first word.
    """

    units: npt.NDArray[np.int16]
    onsets: npt.NDArray[np.int32]
    said: npt.NDArray[np.int16]


def encode_corpus(run: Run) -> None:
    """Make the codebook, and encode all shards that are not encoded yet."""
    encode_shards(run, _Encoder, make_codebook(run))


class _Encoder(TokenEncoder):
    """Encode utterances, with their text units."""

    def __init__(self, table: Path, speaker: Path, codebook: Path) -> None:
        super().__init__(table, speaker, codebook)
        self._espeak = Espeak()

    def utterance(self, place: int, entry: Entry, pcm: Pcm) -> SentenceUtterance | None:
        """Encode one utterance. None if it has too few tokens or its words do not fit."""
        begins = iter(start // TOKEN_SAMPLES for start in entry.starts)
        phoned = phoned_words(entry, self._espeak)
        words = [list(islice(begins, len(word.phones))) for word in phoned if word.phones]
        reader = PhoneUnits(self._espeak, self.table)
        read = [word for text in entry.text.split() for word in reader.push(text)]
        units = [unit for word in (*read, *reader.finish()) for unit in word.units]
        ends = [place for place, unit in enumerate(units) if unit == WORD]
        if not words or len(ends) != len(words):
            return None
        plain = super().utterance(place, entry, pcm)
        onsets = [phones[0] for phones in words]
        if plain is None or plain.steps <= len(units) or onsets[-1] >= plain.steps:
            return None
        said, first = [-1] * onsets[0], 0
        for phones, end, over in zip(words, ends, (*onsets[1:], plain.steps), strict=True):
            said += spoken_units(first, end - first, phones, over)
            first = end + 1
        return SentenceUtterance(
            **vars(plain),
            units=np.asarray(units, np.int16),
            onsets=np.asarray(onsets, np.int32),
            said=np.asarray(said, np.int16),
        )


def splice(person: Sequence[SentenceUtterance], draw: random.Random) -> SentenceUtterance:
    """Join runs of words from several sentences of a speaker into a new sentence. A run has the
    silence behind its last word, and the first one that before its first.
    """
    count = draw.randint(*PARTS)
    tokens, units, onsets, said = list[int](), list[int](), list[int](), list[int]()
    for place in range(count):
        sentence = draw.choice(person)
        words, last_one = len(sentence.onsets), place == count - 1
        first = draw.randrange(max(0, words - LONGEST) if last_one else 0, words) if place else 0
        last = words if last_one else draw.randint(first + 1, min(words, first + LONGEST))
        ends = np.flatnonzero(sentence.units == WORD) + 1
        begin = int(ends[first - 1]) if first else 0
        start = int(sentence.onsets[first]) if place else 0
        over = int(sentence.onsets[last]) if last < words else len(sentence.tokens)
        spoken = sentence.said[start:over]
        said += np.where(spoken < 0, spoken, spoken - begin + len(units)).tolist()
        onsets += (sentence.onsets[first:last] - start + len(tokens)).tolist()
        tokens += sentence.tokens[start:over].tolist()
        units += sentence.units[begin : ends[last - 1]].tolist()
    return replace(
        person[0],
        tokens=np.asarray(tokens, np.int16),
        units=np.asarray(units, np.int16),
        onsets=np.asarray(onsets, np.int32),
        said=np.asarray(said, np.int16),
    )
