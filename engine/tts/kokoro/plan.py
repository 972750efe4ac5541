"""What is known of a sentence, planned: how long each symbol lasts, its pitch, its features.

A plan is made anew with every few words and at every move of the slider. Frames that were rendered
are frozen: the next plan takes them over as they are. Invariant: a plan depends on the words, the
plan before it and its frozen frames alone.
"""

from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import numpy.typing as npt

from engine.text.phonemes import PhonedWord
from engine.tts.kokoro.durations import (
    Frames,
    Pace,
    Script,
    fitted,
    lateness,
    make_script,
    pauses_after,
    silent_frames,
)
from engine.tts.kokoro.parts import Floats, Outline, Parts
from engine.tts.kokoro.symbols import ids
from engine.tts.rate import paced

EARLY: Final = 3  # Kokoro's sounds come three frames earlier than its durations say
_LEAD: Final = 2  # frames before the first sound that are heard
_HELD: Final = 2  # frames before the last word that are not rendered yet
_BENT: Final = 16  # values of the pitch, 200 ms, in which a plan goes over into the next one
_VOICED_HZ: Final = 50.0
_DYING: Final = 4  # frames of a last mark in which the sound before it dies away


@dataclass(frozen=True)
class Speaker:
    """Who speaks: a style [1, 256], whether its English is British, and its own pace in SPS."""

    style: Floats
    british: bool
    own_rate: float


@dataclass(frozen=True)
class Wish:
    """Words of a sentence that are known, each with its pace, and the rate (SPS; None = own).
    `closed`: no word follows.
    """

    words: tuple[PhonedWord, ...]
    paces: tuple[float, ...]
    rate: float | None
    closed: bool


@dataclass(frozen=True)
class Plan:
    """`frames` of each symbol and the edges, of which the first `kept` were rendered before. What
    lies before `limit` may be rendered; behind that of a whole sentence there is only silence. The
    rate holds from word number `rated` on. `first` is the first frame that is heard. `curves` and
    `turns` are what source.py makes of pitch and energy.
    """

    wish: Wish
    script: Script
    outline: Outline
    pauses: tuple[float, ...]
    rated: int
    pace: Pace
    frames: Frames
    kept: int
    features: Floats
    pitch: Floats
    energy: Floats
    curves: Floats
    turns: npt.NDArray[np.float64]
    limit: int

    @property
    def first(self) -> int:
        return max(0, int(self.frames[0]) - _LEAD - EARLY)

    @property
    def edges(self) -> Frames:
        """The frame at which each symbol's sound begins, and where the last one's ends."""
        return np.maximum(0, np.cumsum(self.frames)[:-1] - EARLY)

    @property
    def onsets(self) -> Frames:
        """The frame at which each word's sound begins."""
        return self.edges[np.array(self.script.firsts, np.int64)]

    @property
    def onset_of_last(self) -> int:
        """The frame at which the last word with a sound begins."""
        last = max(n for n, word in enumerate(self.wish.words) if word.phones)
        return int(self.onsets[last])

    @property
    def silences(self) -> dict[int, int]:
        """Frames of silence to put in, by the frame they come behind."""
        silent = silent_frames(self.script)
        middle = self.edges[:-1] + self.frames[1:-1] // 2
        return {int(middle[n]): int(silent[n]) for n in np.flatnonzero(silent)}

    def late(self, done: int) -> float:
        """Frames by which what is rendered before `done` is too long for its rate."""
        kept = self.begun(done)
        return self.pace.late + lateness(
            self.script, self.frames, max(0, self.kept - 1), max(0, kept - 1), self.pace
        )

    def begun(self, done: int) -> int:
        """How many symbols, the edge before them included, sound before a frame."""
        return int(np.searchsorted(np.cumsum(self.frames) - self.frames, done + EARLY))


def make_plan(
    parts: Parts, speaker: Speaker, wish: Wish, before: Plan | None, done: int, late: float = 0.0
) -> Plan:
    """The sentence as it is wished, behind the frames before `done`, which are as in the plan
    `before`. `late`: by how many frames the sentence before was too long for the same rate.
    """
    frozen = np.zeros(0, np.int64)
    decided: tuple[float, ...] = ()
    rated = 0
    if before is not None:
        frozen = before.frames[: before.begun(done)]
        known = sum(end + 1 < len(frozen) for end in before.script.ends)
        decided = before.pauses[:known]
        rated = before.rated if before.wish.rate == wish.rate else known
        late = before.late(done) if before.wish.rate == wish.rate else 0.0
    rates = [None if wish.rate is None else paced(wish.rate, pace) for pace in wish.paces]
    pauses = pauses_after(wish.words, rates, decided, rated)
    script = make_script(wish.words, pauses, closed=wish.closed, british=speaker.british)
    outline = parts.outline(ids(script.text), speaker.style)
    pace = Pace(wish.rate, wish.paces, speaker.own_rate, late)
    frames = fitted(script, outline.natural, frozen, pace, closed=wish.closed)
    features, pitch, energy = parts.features(outline, speaker.style, frames)
    if before is not None:
        features = np.concatenate([before.features[:done], features[done:]])
        pitch = _joined(before.pitch, pitch, 2 * done)
        energy = np.concatenate([before.energy[: 2 * done], energy[2 * done :]])
    source = parts.source
    plan = Plan(
        wish, script, outline, pauses, rated, pace, frames, len(frozen), features, pitch, energy,
        source.curves(pitch, energy), source.turns(pitch), 0,
    )  # fmt: skip
    if wish.closed:
        return replace(plan, limit=max(done, min(len(features), int(plan.edges[-2]) + _DYING)))
    return replace(plan, limit=max(done, plan.onset_of_last - _HELD))


def _joined(old: Floats, new: Floats, place: int) -> Floats:
    """The old pitch up to a place, then the new one, bent so that it goes on from there as the new
    one does from its own values before.
    """
    joined = np.concatenate([old[:place], new[place:]])
    ends = [float(each[place - 2 : place].min(initial=np.inf)) for each in (old, new)]
    if all(_VOICED_HZ < end < np.inf for end in ends):
        bent = joined[place : place + _BENT]
        bent *= (ends[0] / ends[1]) ** np.linspace(1, 0, len(bent), dtype=np.float32)
    return joined
