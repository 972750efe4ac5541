"""The rate table of a trained voice: for each rate a histogram of duration tokens, towards which
the voice's choices are pulled.

The histograms are first measured in the corpus. A small voice that is pulled towards the histogram
of a rate speaks at another rate. So the table is tuned: the voice speaks with each histogram, and
each rate gets the one with which the voice spoke at that rate. All rows have the same strength of
the pull: with a strength for each, every move of the slider crossed a jump. Invariant: rates are
those of the speech itself, counted in the same windows that a session looks back on; a higher rate
never gets the histogram of a slower one.
"""

import random
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Final

import numpy as np
import numpy.typing as npt

from engine.training.corpus import grammar
from engine.training.evaluation.parts import spread
from engine.training.evaluation.voices import spoken_rate, syllables_of
from engine.training.voxtream import VoxtreamExport
from engine.training.voxtream.data import VoxtreamUtterance
from engine.tts.voxtream.config import DURATION_TOKENS, GENERATION
from engine.tts.voxtream.rate import RateTarget, rate_target
from engine.tts.voxtream.synthesiser import VoxtreamSynthesiser

RATES: Final = (1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0)  # SPS
SLOWER, FASTER = 0.5, 8.0  # SPS beyond the table, for voices that must be asked for more
COUNTS: Final = 200  # a row's sum: fine enough that rounding does not matter
FRAMES_PER_SECOND: Final = 12.5
HALF_WIDTH: Final = 0.5  # SPS by which a window's rate may differ from a row's
FEWEST_WINDOWS: Final = 20  # a row with fewer borrows from its neighbours
MANY: Final = 200  # sentences to pick from
WORDS = (2, 12)  # of a sentence to tune with; long ones alone are spoken slower
Counts = tuple[int, ...]


def measured_rates(
    counts: Mapping[float, Counts], export: VoxtreamExport
) -> dict[float, RateTarget]:
    """Return the untuned table: RATES, with the recipe's strength and guidance."""
    guidance = export.generation.semantic_guidance
    return {rate: RateTarget(counts[rate], export.weight, guidance) for rate in RATES}


def measured_counts(corpus: Iterable[VoxtreamUtterance]) -> dict[float, tuple[int, ...]]:
    """Return the corpus's histogram, of counts above 0, at each rate and beyond both ends."""
    rates, histograms = _windows(corpus)
    counts = {}
    for rate in (SLOWER, *RATES, FASTER):
        distance = np.abs(rates - rate)
        # The range widens until there are enough windows.
        fewest = float(np.sort(distance)[min(FEWEST_WINDOWS, len(distance)) - 1])
        mean = histograms[distance <= max(HALF_WIDTH, fewest)].mean(axis=0)
        counts[rate] = tuple(max(1, round(COUNTS * float(part))) for part in mean)
    return counts


def _windows(
    corpus: Iterable[VoxtreamUtterance],
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Return the rate of each window of three seconds (or of a shorter utterance), and the windows'
    histograms of duration tokens.
    """
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


def tune(
    model: VoxtreamSynthesiser,
    counts: Mapping[float, Counts],
    table: Mapping[float, RateTarget],
    seconds: float,
) -> dict[float, RateTarget]:
    """Let a pack's model speak for `seconds` with each histogram in `counts` (by rate, also
    beyond the table's ends) and return the tuned table.
    """
    row, spoken = next(iter(table.values())), dict[float, float]()
    for rate, histogram in counts.items():
        texts = enough_texts(tuning_sentences(), rate, seconds)
        alone = model.with_rates({1.0: replace(row, counts=histogram)})
        spoken[rate] = spoken_rate(alone, texts, 1.0)
    return invert(table, counts, spoken)


def invert(
    table: Mapping[float, RateTarget], counts: Mapping[float, Counts], spoken: Mapping[float, float]
) -> dict[float, RateTarget]:
    """Return the table with, at each rate, the histogram that was spoken at that rate. `spoken` has
    the measured SPS of each histogram in `counts`. A rate that none reached gets the nearest one.
    """
    asked = sorted(counts)
    heard = np.maximum.accumulate([spoken[rate] for rate in asked])  # chance may turn two around
    rows = {rate: RateTarget(counts[rate], 0.0, 0.0) for rate in asked}
    return {
        rate: replace(row, counts=rate_target(float(np.interp(rate, heard, asked)), rows).counts)
        for rate, row in table.items()
    }


def tuning_sentences() -> tuple[str, ...]:
    """Return sentences to measure a rate with; the comparison does not use them."""
    draw = random.Random("own rate")
    texts = sorted({grammar.sentence("train", draw) for _ in range(MANY)})
    return tuple(text for text in texts if WORDS[0] <= text.count(" ") + 1 <= WORDS[1])


def enough_texts(texts: tuple[str, ...], rate: float, seconds: float) -> tuple[str, ...]:
    """Return enough texts to last `seconds` at a rate, at least one."""
    syllables = float(np.mean([syllables_of(text) for text in texts]))
    return spread(texts, max(1, round(rate * seconds / syllables)))
