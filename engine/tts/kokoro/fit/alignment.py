"""The times of known sounds in a recording, found by dynamic time warping against synthesised
speech of the same text.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from engine.tts.base import Pcm
from engine.tts.kokoro.durations import Frames
from engine.tts.kokoro.fit.measuring import mel_filters, powers, sounding
from engine.tts.kokoro.plan import EARLY
from engine.tts.kokoro.source import FRAME, SAMPLE_RATE, STEP

Numbers = npt.NDArray[np.float64]

_WINDOW, _FFT, _BANDS = 720, 1024, 40
_ENDS_HZ: Final = (60, 7_600)
_FAINT: Final = 0.002  # of the loud blocks' power: the weakest sound at an end
CEPSTRA: Final = 16
_DEEPEST: Final = 9.0  # nepers below the loud frames: silence
_SLOPE_WEIGHT, _LEVEL_WEIGHT = 1.5, 1.5
_MOVES: Final = np.array([[1, 1], [1, 0], [0, 1]])  # of a path: both go on, or one of them
_FACTORS: Final = np.array([[1.6], [1], [1]])  # on the distance, for each move
_STANDING: Final = np.array([[0], [0.02], [0.02]])  # added to it
_TURNS: Final = (0.25, 0.5, 0.75)  # of the sounds: the other orders


@dataclass(frozen=True)
class Alignment:
    """The `frames` of each symbol in the recording. `distance`: the mean distance along the path,
    less that of the same sounds in another order; negative for the right text, about 0 for another
    one.
    """

    frames: Frames
    distance: float


def align(clip: Pcm, said: Pcm, frames: Frames) -> Alignment:
    """Find the symbols of the speech `said`, where they last `frames`, in the clip. Both are at 24
    kHz.
    """
    # Without the silence at the ends, which would be the cheapest place of a word before a pause.
    (ours, our_first), (theirs, their_first) = (_speech(pcm) for pcm in (said, clip))
    distances = _distances(cepstra(ours), cepstra(theirs))
    path, distance = _warp(distances)
    turned = (np.roll(distances, round(share * len(distances)), 0) for share in _TURNS)
    distance -= float(np.mean([_warp(each)[1] for each in turned]))
    at = np.clip(2 * (np.cumsum(frames)[:-1] - EARLY) - our_first, 0, path[-1, 0])
    found = np.array([path[path[:, 0] == place, 1].mean() for place in at])
    edges = (found + their_first) / 2 + EARLY
    total, count = len(clip) // FRAME, len(frames)
    ends = [0]
    for place, edge in enumerate([*edges, total]):  # at least a frame each
        latest = total - (count - 1 - place)
        ends.append(int(np.clip(round(edge), min(ends[-1] + 1, latest), latest)))
    return Alignment(np.diff(ends).astype(np.int64), distance)


def _speech(pcm: Pcm) -> tuple[Pcm, int]:
    """Return the samples between the silences, and the number of silent steps before them."""
    _, first, last = sounding(pcm, _FAINT)
    first = first // STEP * STEP
    return pcm[first:last], first // STEP


def cepstra(pcm: Pcm) -> Numbers:
    """Return cepstra and their slopes, a row every half frame, standardised over the utterance."""
    filters = mel_filters(_BANDS, _FFT, SAMPLE_RATE, *_ENDS_HZ)
    logs = np.log(powers(pcm, _WINDOW, _FFT) @ filters + 1e-6)
    logs = np.maximum(logs, np.percentile(logs.max(1), 95) - _DEEPEST)
    turns = np.outer(np.arange(CEPSTRA), (np.arange(_BANDS) + 0.5) / _BANDS)
    rows = logs @ np.cos(np.pi * turns).T
    rows = (rows - rows.mean(0)) / (rows.std(0) + 1e-3)
    rows[:, 0] *= _LEVEL_WEIGHT
    slopes = np.gradient(rows, axis=0)
    return np.hstack([rows, _SLOPE_WEIGHT * slopes / (slopes.std(0) + 1e-3)])


def _distances(one: Numbers, other: Numbers) -> Numbers:
    squares = (one**2).sum(1)[:, None] + (other**2).sum(1) - 2 * one @ other.T
    return np.asarray(np.sqrt(np.maximum(0, squares) / one.shape[1]))


def _warp(cost: Numbers) -> tuple[npt.NDArray[np.int64], float]:
    """Return the cheapest path from the first to the last corner of a cost matrix, [steps, 2], and
    its mean cost.
    """
    rows, columns = cost.shape
    total = np.full((rows + 1, columns + 1), np.inf)
    total[0, 0] = 0
    moves = np.zeros(total.shape, np.int64)  # the cheapest one into each place
    for diagonal in range(2, rows + columns + 1):  # all places of a diagonal at once
        i = np.arange(max(1, diagonal - columns), min(rows, diagonal - 1) + 1)
        j = diagonal - i
        before = np.stack([total[i - down, j - right] for down, right in _MOVES])
        totals = before + _FACTORS * cost[i - 1, j - 1] + _STANDING
        total[i, j], moves[i, j] = totals.min(0), totals.argmin(0)
    place, path = np.array(cost.shape), []
    while place.all():
        path.append(place - 1)
        place = place - _MOVES[moves[tuple(place)]]
    way = np.array(path[::-1])
    return way, float(cost[way[:, 0], way[:, 1]].mean())
