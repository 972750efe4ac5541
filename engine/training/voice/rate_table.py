"""The rate table of a trained voice: which duration tokens its corpus contains at each rate.

Invariant: rates are those of the speech itself, counted in the same windows that a session looks
back on.
"""

from collections.abc import Iterable
from typing import Final

import numpy as np
import numpy.typing as npt

from engine.training.recipe import Export
from engine.training.voice.utterances import Encoded
from engine.tts.voxtream.config import DURATION_TOKENS, GENERATION
from engine.tts.voxtream.rate import RateTarget

RATES: Final = (1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0)  # SPS
SLOWER, FASTER = 0.5, 8.0  # SPS beyond the table, for voices that must be asked for more
COUNTS: Final = 200  # a row's sum: fine enough that rounding does not matter
FRAMES_PER_SECOND: Final = 12.5
HALF_WIDTH: Final = 0.5  # SPS by which a window's rate may differ from a row's
FEWEST_WINDOWS: Final = 20  # a row with fewer borrows from its neighbours


def measured_rates(corpus: Iterable[Encoded], export: Export) -> dict[float, RateTarget]:
    """A row for every rate; counts are at least 1."""
    counts = measured_counts(corpus)
    return {rate: RateTarget(counts[rate], export.weight, export.guidance) for rate in RATES}


def measured_counts(corpus: Iterable[Encoded]) -> dict[float, tuple[int, ...]]:
    """The histogram of every rate, and of rates beyond both ends; counts are at least 1."""
    rates, histograms = _windows(corpus)
    return {
        rate: tuple(max(1, round(COUNTS * float(part))) for part in _row(rate, rates, histograms))
        for rate in (SLOWER, *RATES, FASTER)
    }


def _windows(
    corpus: Iterable[Encoded],
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Rate of every window of three seconds (or shorter utterance), and its histogram of tokens."""
    window = GENERATION.rate_window_frames
    rates, histograms = [], []
    for utterance in corpus:
        nuclei = np.asarray(utterance.nuclei, np.int64)
        last = utterance.spans()[:, 1]
        ends = np.concatenate(([0], np.cumsum(nuclei)[last]))  # syllables up to each frame
        length = min(window, len(last))
        for start in range(0, len(last) - length + 1, max(1, length // 2)):
            end = start + length
            rates.append((ends[end] - ends[start]) * FRAMES_PER_SECOND / length)
            tokens = np.asarray(utterance.tokens[start:end], np.int64)
            histograms.append(np.bincount(tokens, minlength=len(DURATION_TOKENS)) / length)
    return np.asarray(rates), np.asarray(histograms)


def _row(
    rate: float, rates: npt.NDArray[np.float64], histograms: npt.NDArray[np.float64]
) -> npt.NDArray[np.float64]:
    """Mean histogram of windows near a rate; the range widens until there are enough windows."""
    distance = np.abs(rates - rate)
    reach = max(HALF_WIDTH, float(np.sort(distance)[min(FEWEST_WINDOWS, len(distance)) - 1]))
    mean: npt.NDArray[np.float64] = histograms[distance <= reach].mean(axis=0)
    return mean
