"""Sentences put together from stretches of words of a speaker's other sentences.

A few hours of speech are soon known by heart, and then the next token follows from those before,
whatever the text says. What comes after a splice only the text can tell. Invariant: a splice begins
as one of its sentences does and ends as another does.
"""

import random
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from engine.training.llmvox.encode import Encoded
from engine.tts.llmvox.config import WORD

PARTS: Final = (3, 10)  # stretches of a splice, at least and at most
LONGEST: Final = 3  # words of a stretch, but for the last, which ends a sentence


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
        pieces.append(_words(sentence, first, last, opens=not place))
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


def _words(sentence: Encoded, first: int, last: int, *, opens: bool) -> Encoded:
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
