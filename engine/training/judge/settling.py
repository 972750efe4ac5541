"""How fast a voice follows the slider: its rate around a change in the middle of an utterance.

Syllables come from the text, the times of the words from an aligner that gets the speech; the
talker's own onsets are used only where the aligner found no words. Invariant: the curve is a mean
over utterances, because one word's length hides a change.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from engine.text import syllables
from engine.training.judge.verdicts import Verdict

STRIDE: Final = 0.1  # seconds between two points of the curve
WINDOW: Final = 1.0  # seconds around each point, half before and half after it
SHARE: Final = 0.9  # of the way
BEFORE: Final = (-8.0, -0.5)  # seconds around the change that count as before it

Curve = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Settling:
    """Rates before and long after the change, SPS, and the seconds until 90 % of the change is
    done, 0.4 s of which come from the window. None = never.
    """

    before: float
    after: float
    seconds: float | None


def settling(verdicts: Sequence[Verdict]) -> Settling | None:
    """From utterances with one change of rate each. None when no utterance has enough speech around
    it."""
    times = np.arange(BEFORE[0], -BEFORE[0], STRIDE)
    curves = [_rates(verdict, times) for verdict in verdicts if verdict.switched is not None]
    if not curves:
        return None
    table = np.stack(curves)
    voiced = ~np.isnan(table).all(axis=0)
    times, mean = times[voiced], np.nanmean(table[:, voiced], axis=0)
    earlier, later = mean[times < BEFORE[1]], mean[times > WINDOW / 2]
    if not len(earlier) or not len(later):
        return None
    before, after = float(np.mean(earlier)), float(np.mean(later[len(later) // 3 :]))
    way = (mean - before) / (after - before) if after != before else np.ones_like(mean)
    arrivals = times[(times >= 0) & (way >= SHARE)]
    return Settling(before, after, float(arrivals[0]) if len(arrivals) else None)


def _rates(verdict: Verdict, times: Curve) -> Curve:
    """SPS at seconds from the change; NaN where there is no speech."""
    words = verdict.text.split()
    starts = verdict.starts if len(verdict.starts) == len(words) else verdict.onsets
    empty: Curve = np.full(len(times), np.nan)
    if len(starts) != len(words) or verdict.switched is None:
        return empty
    # Syllables before each word; the last word's end is not known, so the curve ends at its start.
    counts = np.cumsum([0, *(syllables.count(word) for word in words[:-1])])
    moments = np.asarray(starts)
    early, late = (verdict.switched + times + side * WINDOW / 2 for side in (-1, 1))
    rates: Curve = (np.interp(late, moments, counts) - np.interp(early, moments, counts)) / WINDOW
    rates[(early < moments[0]) | (late > moments[-1])] = np.nan
    return rates
