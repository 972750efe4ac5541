"""Transfer the times of a synthesiser's sounds to the phones that the voice reads at run time.

The synthesiser's lexicon and the phonemizer sometimes differ, so the two sequences are aligned by
edit distance, like two spellings of a word. A sound that is not in the text (a filler, a pause)
belongs to the phone before it, as in VoXtream2, 4.1. Invariant: times never go back; the cost of
the alignment says how well the two sequences agree.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from engine.training.teachers import sounds
from engine.training.teachers.synthesisers import Sound

GAP = 0.9  # cost of a sound that only one side has


@dataclass(frozen=True)
class Match:
    """An alignment: start of each phone and end of speech, in samples, and the cost per phone."""

    starts: tuple[int, ...]
    end: int
    cost: float


def match(phones: Sequence[str], take: Sequence[Sound]) -> Match | None:
    """Align phones in espeak's spelling with the sounds of a take. None if a phone has no spelling
    in sounds, or if either side is empty.
    """
    try:
        spelt = [
            (owner, sound) for owner, phone in enumerate(phones) for sound in sounds.of_ipa(phone)
        ]
    except KeyError:
        return None
    speech = [sound for sound in take if sound.name != sounds.PAUSE]
    if not spelt or not speech:
        return None
    table = _costs([name for _, name in spelt], [sound.name for sound in speech])
    starts = _starts(len(phones), [owner for owner, _ in spelt], speech, table)
    return Match(starts, speech[-1].end, float(table[-1, -1]) / len(spelt))


def _costs(
    left: Sequence[str], right: Sequence[str]
) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    """Return the table of edit distances: the cost of aligning each prefix of `left` with each
    prefix of `right`, [left + 1, right + 1].
    """
    table = np.zeros((len(left) + 1, len(right) + 1))
    table[:, 0] = np.arange(len(left) + 1) * GAP
    table[0, :] = np.arange(len(right) + 1) * GAP
    for row, one in enumerate(left, start=1):
        for column, other in enumerate(right, start=1):
            table[row, column] = min(
                table[row - 1, column - 1] + sounds.distance(one, other),
                table[row - 1, column] + GAP,
                table[row, column - 1] + GAP,
            )
    return table


def _starts(
    count: int,
    owners: Sequence[int],
    speech: Sequence[Sound],
    table: np.ndarray[tuple[int, int], np.dtype[np.float64]],
) -> tuple[int, ...]:
    """Trace the cheapest alignment back from its end. Return the start of each phone in samples:
    that of its first sound, or of the next phone if it has no sound.
    """
    starts: list[int | None] = [None] * count
    row, column = len(owners), len(speech)
    while row > 0 and column > 0:
        here = table[row, column]
        if np.isclose(here, table[row, column - 1] + GAP):
            column -= 1
        elif np.isclose(here, table[row - 1, column] + GAP):
            row -= 1
        else:
            row, column = row - 1, column - 1
            starts[owners[row]] = speech[column].start
    following = speech[-1].end
    for number in reversed(range(count)):
        onset = starts[number]
        following = following if onset is None else onset
        starts[number] = following
    return tuple(start for start in starts if start is not None)
