"""Plan of the known part of a sentence: durations of the symbols, pitch and features.

A new plan is made with every few words and at every move of the slider. Rendered frames stay: the
next plan takes them over unchanged. Invariant: a plan depends only on the words, the plan before it
and the number of rendered frames.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final, Self

import numpy as np
import numpy.typing as npt

from engine.text.phonemes import PhonedWord
from engine.tts.kokoro.durations import (
    PER_SECOND,
    Frames,
    KokoroScript,
    Pace,
    fit_durations,
    lateness,
    make_script,
    pause_needed,
    pauses_after,
    pausing_below,
    said_syllables,
    silent_frames,
)
from engine.tts.kokoro.parts import EncodedText, Floats, Parts
from engine.tts.kokoro.symbols import ids
from engine.tts.kokoro.voices import AS_IT_IS, VOICED_HZ, Delivery
from engine.tts.rate import paced

EARLY: Final = 3  # Kokoro's sounds come three frames earlier than its durations say
_LEAD: Final = 2  # frames before the first sound that are heard
_MOST_CORRECTION: Final = 30.0  # frames that the next sentence corrects, at most
_SOUNDING: Final = 0.0  # energy; silence is below
_DEAD: Final = -3.0  # energy; of one voice, sound that dies away is at -50 dB below it
_SOONER: Final = 3  # frames, at most
_REPORTED_SOONER: Final = 1
_SILENT_START: Final = 6  # frames at the beginning of a word that may be silent, at most
_HELD: Final = 2  # frames before the last word that are not rendered yet
_BENT: Final = 16  # values of the pitch, 200 ms, of the transition to the next plan
_BEARABLE: Final = 0.1  # syllables of lateness that a sentence may leave to the next one
_DYING: Final = 4  # frames of a last mark in which the sound before it dies away
# The same at least, where sentences are late. With 1, and where a sound behind another sentence has
# a frame less before it, more words were wrong (Whisper base, 376 words at 7 SPS).
_SHORTEST_DYING: Final = 2
_HURRIED: Final = 2.0  # frames of lateness from which a sentence spares a frame before its sound


@dataclass(frozen=True)
class Speaker:
    """A voice: its style [1, 256], the accent of its phones as espeak-ng calls it, its own rate in
    SPS, and the person's delivery.
    """

    style: Floats
    accent: str
    own_rate: float
    delivery: Delivery = AS_IT_IS


@dataclass(frozen=True)
class PlanRequest:
    """A request for a plan: the known words of a sentence, each with its pace, and the rate (SPS;
    None = the voice's own). `closed`: no word follows.
    """

    words: tuple[PhonedWord, ...]
    paces: tuple[float, ...]
    rate: float | None
    closed: bool


@dataclass(frozen=True)
class NaturalSpeech:
    """A planned sentence: features [T, C], pitch in Hz and energy [2 T], and the `frames` of its
    symbols and both edges. `curves` and `turns`: pitch and energy as parts.py prepares them.
    windows.render() makes samples of it.
    """

    script: KokoroScript
    encoded: EncodedText
    frames: Frames
    features: Floats
    pitch: Floats
    energy: Floats
    curves: Floats
    turns: npt.NDArray[np.float64]

    @property
    def edges(self) -> Frames:
        """Frames at which the symbols' sounds begin, and the end of the last one."""
        return np.maximum(0, np.cumsum(self.frames)[:-1] - EARLY)

    def with_curves(self, parts: Parts, pitch: Floats, energy: Floats) -> Self:
        """Return the same sounds with another pitch and energy."""
        source = parts.source
        curves, turns = source.curves(pitch, energy), source.turns(pitch)
        return replace(self, pitch=pitch, energy=energy, curves=curves, turns=turns)


@dataclass(frozen=True)
class Plan(NaturalSpeech):
    """The plan of a sentence. The first `kept` of its frames were rendered before. Frames before
    `limit` may be rendered; after the limit of a complete sentence there is only silence.
    `inherited`: frames by which the sentence before was too long (None = this is the first one).
    `steady`: the rate has not changed since the sentence began.
    """

    request: PlanRequest
    inherited: float | None
    pauses: tuple[float, ...]
    steady: bool
    pace: Pace
    kept: int
    limit: int = 0

    @property
    def first(self) -> int:
        """The first frame to render: usually _LEAD frames before the first sound, up to _SOONER
        frames earlier if the voice begins its sound earlier, as its energy shows. After another
        sentence it is one frame later (that frame was below -45 dB in one voice), at most one frame
        before the usual one, and after a late sentence not before it.
        """
        usual = int(self.frames[0]) - _LEAD - EARLY
        sounding = np.flatnonzero(self.energy[: 2 * usual + 2] > _SOUNDING) // 2
        first = min([usual, *map(int, sounding[:1])])
        sooner = _SOONER
        if self.inherited is not None and self.pace.rate is not None:
            first, sooner = first + 1, int(self.inherited <= _HURRIED)
        return max(0, usual - sooner, first)

    @property
    def lead(self) -> int:
        """Audible frames before the first symbol."""
        return int(self.frames[0]) - self.first

    @property
    def onsets(self) -> Frames:
        """The frame at which each word's sound begins."""
        return self.edges[np.array(self.script.firsts, np.int64)]

    @property
    def heard_onsets(self) -> Frames:
        """The frame at which each word is reported: where its energy begins if a silence is before
        it, else a frame before its onset, where an aligner finds it. Behind a silence the onset is
        25 to 72 ms from the sound (median, four languages), the beginning of its energy 15 to 18.
        """
        onsets = self.onsets
        heard = onsets - _REPORTED_SOONER
        for number, first in enumerate(self.script.firsts):
            if not first or any(self.script.pauses[max(0, first - 2) : first]):
                onset = int(onsets[number])
                energy = self.energy[2 * onset : 2 * (onset + _SILENT_START)]
                sounding = np.flatnonzero(energy > _SOUNDING) // 2
                heard[number] = onset + int(min(sounding, default=0))
        return np.maximum.accumulate(heard)

    @property
    def silences(self) -> dict[int, int]:
        """Frames of silence to insert, by the frame before them."""
        silent = silent_frames(self.script)
        middle = self.edges[:-1] + self.frames[1:-1] // 2
        return {int(middle[n]): int(silent[n]) for n in np.flatnonzero(silent)}

    def late(self, done: int) -> float:
        """Return the frames by which the part before frame `done` is too long for its rate."""
        first = max(0, self.kept - 1)
        last = min(max(0, self.begun(done) - 1), len(self.script.text))  # not the edge behind
        return self.pace.late + lateness(self.script, self.frames, first, last, self.pace)

    @property
    def silence_behind(self) -> int:
        """Frames of silence after the limit of a complete sentence: fewer than planned if the
        sentence would otherwise be later than the next one should correct.
        """
        planned = len(self.features) - self.limit
        return max(0, planned - self._excess(planned))

    @property
    def late_at_end(self) -> float:
        """The lateness of the entire sentence in frames, with the silence after it and without the
        next sentence's lead.
        """
        late = self._late_with(self.silence_behind)
        return min(max(late, -_MOST_CORRECTION), _MOST_CORRECTION)

    def hurried(self, done: int) -> "Plan":
        """Return the plan of a complete sentence with an earlier end of its last sound, if the
        sentence is late even without silence after it. `done`: rendered frames.
        """
        least = max(done, min(self.limit, int(self.edges[-2]) + _SHORTEST_DYING))
        return replace(self, limit=max(least, self.limit - self._excess(0)))

    def _excess(self, behind: int) -> int:
        """Return the frames by which the sentence, with `behind` frames of silence after it, is
        later than the next sentence should correct; 0 or more.
        """
        if self.pace.rate is None:
            return 0
        bearable = _BEARABLE * PER_SECOND / self.pace.rate
        return max(0, math.ceil(self._late_with(behind) - bearable))

    def _late_with(self, behind: int) -> float:
        """Return the lateness of the sentence with `behind` frames of silence after it."""
        cut = len(self.features) - self.limit - behind
        return self.late(self.limit) + float(self.frames[-1]) - cut

    def begun(self, done: int) -> int:
        """Count the symbols and the edge before them that have begun before frame `done`."""
        return int(np.searchsorted(np.cumsum(self.frames) - self.frames, done + EARLY))


def make_plan(
    parts: Parts,
    speaker: Speaker,
    request: PlanRequest,
    before: Plan | None,
    done: int,
    late: float | None = None,
) -> Plan:
    """Plan a sentence from the frame `done` on; the frames before it stay as in the plan `before`.
    `late`: frames by which the sentence before was too long at the same rate (Plan.late_at_end);
    None = there was no sentence before.
    """
    follows = late is not None
    frozen, decided, said, steady, behind = _rendered_part(
        before, done, request.rate, (late or 0.0) + (_LEAD + EARLY) * follows
    )
    rates = [None if request.rate is None else paced(request.rate, pace) for pace in request.paces]
    below = pausing_below(speaker.accent, speaker.own_rate)
    needed = [pause_needed(rate, below) for rate in rates]
    pauses = pauses_after(request.words, needed, decided, said, -behind / PER_SECOND, steady=steady)
    script = make_script(request.words, pauses, closed=request.closed, accent=speaker.accent)
    encoded = parts.encode(ids(script.text), speaker.style)
    pace = Pace(request.rate, request.paces, speaker.own_rate, behind, below, follows)
    slowness = speaker.delivery.slowness if request.rate is None else 1.0
    frames = fit_durations(script, slowness * encoded.natural, frozen, pace, closed=request.closed)
    features, pitch, energy = parts.features(encoded, speaker.style, frames)
    pitch = speaker.delivery.pitched(pitch)
    if before is not None:
        features = np.concatenate([before.features[:done], features[done:]])
        pitch = _joined(before.pitch, pitch, 2 * done)
        energy = np.concatenate([before.energy[: 2 * done], energy[2 * done :]])
    curves, turns = parts.source.curves(pitch, energy), parts.source.turns(pitch)
    plan = Plan(
        *(script, encoded, frames, features, pitch, energy, curves, turns),
        *(request, late, pauses, steady, pace, len(frozen)),
    )
    if before is None and follows:  # the lead of the plan is known now
        pace = replace(pace, late=pace.late + plan.lead - _LEAD - EARLY)
    if request.closed:  # the sound before the last mark has died away at the end
        end = int(plan.edges[-2])
        dying = np.flatnonzero(plan.energy[2 * end : 2 * (end + _DYING)] > _DEAD) // 2
        end += int(max(dying, default=0)) + 1
    else:
        last = max(n for n, word in enumerate(request.words) if word.phones)
        end = int(plan.onsets[last]) - _HELD
    plan = replace(plan, pace=pace, limit=max(done, min(len(features), end)))
    return plan.hurried(done) if request.closed else plan


def _rendered_part(
    before: Plan | None, done: int, rate: float | None, late: float
) -> tuple[Frames, tuple[float, ...], Mapping[int, int], bool, float]:
    """Return what of a plan lies before the frame `done`: frames of symbols, pauses that are
    decided, spoken syllables of each word, Plan.steady, and the frames by which it is too long
    (`late` if there is no plan yet).
    """
    if before is None:
        return np.zeros(0, np.int64), (), {}, True, late
    frames = before.frames[: before.begun(done)]
    decided = sum(end + 1 < len(frames) for end in before.script.ends)
    said = said_syllables(before.script, max(0, len(frames) - 1))
    if before.request.rate != rate:
        return frames, before.pauses[:decided], said, False, 0.0
    return frames, before.pauses[:decided], said, before.steady, before.late(done)


def _joined(old: Floats, new: Floats, place: int) -> Floats:
    """Join the old pitch up to a place and the new pitch after it. The new one is bent at its
    beginning so that it continues from the old one.
    """
    joined = np.concatenate([old[:place], new[place:]])
    ends = [float(each[place - 2 : place].min(initial=np.inf)) for each in (old, new)]
    if all(VOICED_HZ < end < np.inf for end in ends):
        bent = joined[place : place + _BENT]
        bent *= (ends[0] / ends[1]) ** np.linspace(1, 0, len(bent), dtype=np.float32)
    return joined
