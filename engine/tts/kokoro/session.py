"""One utterance of Kokoro: words in, frames out, planned anew with every few words and at every new
rate.

Rendered speech stays until a rewind takes it back. A rewind can begin at any frame, because every
rendered window has a stored state. Invariants: samples depend on the words, on where the rate
changed and on the words known then, not on when the others came, nor on the windows. Nothing is
random, so the seed has no effect.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np
import numpy.typing as npt

from engine.text.phonemes import Espeak, PhonedWord, WordPhonemizer
from engine.tts.base import Pcm, RateRange
from engine.tts.kokoro.durations import Frames
from engine.tts.kokoro.parts import FRAME, SAMPLE_RATE, Parts, VoiceInputs
from engine.tts.kokoro.plan import NaturalSpeech, Plan, PlanRequest, Speaker, make_plan
from engine.tts.kokoro.symbols import next_words, parts_of
from engine.tts.kokoro.voices import TAPS
from engine.tts.kokoro.windows import faded_in, faded_out, plan_natural, render, with_silences
from engine.tts.rate import SyllableMeter
from engine.tts.session import Session

RATE_RANGE: Final = RateRange(1.0, 7.0)  # SPS; measured by tests.benchmarks.kokoro
# Frames of a window: small ones sound sooner, large ones compute less around them.
_FIRST, _LARGEST = 6, 24
_KEPT: Final = 3 * SAMPLE_RATE  # how far back can be rewound: beyond any lead
_JOIN: Final = 240  # samples in which one plan's sound goes over into the next one's


@dataclass(frozen=True)
class VoiceParts:
    """Parts that all sessions of a voice share and none may change."""

    parts: Parts
    espeak: Espeak
    speaker: Speaker
    voice_inputs: VoiceInputs

    def natural(self, words: Sequence[PhonedWord], frames: Frames | None = None) -> NaturalSpeech:
        """Plan a complete sentence in the voice's style; see plan_natural()."""
        style, accent = self.speaker.style, self.speaker.accent
        return plan_natural(self.parts, style, words, accent=accent, frames=frames)


@dataclass(frozen=True)
class _State:
    """Progress of an utterance: the sentence from word `first` on, and its plan. All frames before
    `done` are rendered. `began`: words of it whose onset was reported; `sounded`: symbols of it
    that have ended; `tail`: one more frame of the last plan, for a cross-fade; `behind`: rate and
    lateness (in frames) of the sentence before; `before`: the last samples before the equaliser.
    """

    first: int = 0
    plan: Plan | None = None
    done: int = 0
    began: int = 0
    sounded: int = 0
    tail: Pcm | None = None
    behind: tuple[float | None, float] | None = None
    window: int = _FIRST
    before: Pcm = field(default_factory=lambda: np.zeros(0, np.float32))


@dataclass(frozen=True)
class _Window:
    """A window of rendered frames: the state before it, the samples `places` at which each frame
    starts and the last one ends, the samples `pcm`, and the rate meter before it.
    """

    state: _State
    places: npt.NDArray[np.int64]
    pcm: Pcm
    meter: SyllableMeter


class KokoroSession(Session):
    """The TtsSession of Kokoro."""

    def __init__(self, voice: VoiceParts) -> None:
        super().__init__(SAMPLE_RATE, RATE_RANGE)
        self._voice = voice
        self._phonemizer = WordPhonemizer(voice.espeak)
        self._known: list[PhonedWord] = []  # a very long word is more than one
        self._numbers: list[int] = []  # of the words that those are
        self._texts: list[str] = []  # of words as they came, in lower case
        self._state = _State()
        self._windows: deque[_Window] = deque()

    def _make(self) -> bool:
        """Plan or render a little. False if neither is possible now."""
        state = self._state
        plan = state.plan
        if plan is None:
            return self._plan_more()
        if plan.request.closed and state.done == plan.limit:
            first = state.first + len(plan.request.words)
            behind = plan.request.rate, plan.late_at_end
            self._state = _State(first, behind=behind, window=state.window, before=state.before)
        elif plan.request.rate != self.rate:
            # With more words, if they are known: soon they would have to be planned as well.
            if not self._plan_more():
                self._plan(plan.request.words, closed=plan.request.closed)
        elif state.done < plan.limit:
            self._render(plan)
        else:
            return self._plan_more()
        return True

    def _plan_more(self) -> bool:
        """Plan the sentence with more words. False if they are not known yet."""
        plan, first = self._state.plan, self._state.first
        planned = len(plan.request.words) if plan else 0
        while True:
            known, numbers = self._known[first:], self._numbers[first:]
            english = self._voice.espeak.english  # only its words say where a phrase begins
            texts = [self._texts[number] for number in numbers if english]
            more = next_words(known, planned, all_known=self._all_heard, texts=texts)
            if more is not None:
                self._plan(more[0], closed=more[1])
                return True
            if not self._hear_next():
                return False

    def _hear(self, word: str | None) -> None:
        if word is None:
            ready = self._phonemizer.finish()
        else:
            self._texts.append(word.casefold())
            ready = self._phonemizer.push(word)
        for number, each in enumerate(ready, self._numbers[-1] + 1 if self._numbers else 0):
            parts = parts_of(each)
            self._known += parts
            self._numbers += [number] * len(parts)

    def _plan(self, words: tuple[PhonedWord, ...], *, closed: bool) -> None:
        state = self._state
        numbers = self._numbers[state.first : state.first + len(words)]
        paces = tuple(self._paces[number] for number in numbers)
        request = PlanRequest(words, paces, self.rate, closed)
        late = None
        if state.behind is not None:
            rate, behind = state.behind
            late = behind if rate == request.rate else 0.0
        parts, speaker = self._voice.parts, self._voice.speaker
        plan = make_plan(parts, speaker, request, state.plan, state.done, late)
        self._state = replace(state, plan=plan, done=state.done if state.plan else plan.first)

    def _render(self, plan: Plan) -> None:
        """Render the next frames of the plan. If the sentence may continue after them, also render
        the tail that is cross-faded with the continuation.
        """
        state = self._state
        first, last = state.done, state.done + state.window
        if last + state.window // 2 > plan.limit:  # rather one that is larger than a small one more
            last = plan.limit
        goes_on = last == plan.limit and not plan.request.closed
        voice = self._voice
        pcm = render(voice.parts, voice.voice_inputs, plan, first, last + goes_on)
        tail = pcm[FRAME * (last - first) :] if goes_on else None
        pcm, places = with_silences(plan, pcm[: FRAME * (last - first)], first, last)
        places += self._made
        if state.tail is not None:
            count = min(_JOIN, len(state.tail), len(pcm))
            share = np.linspace(1, 0, count, dtype=np.float32)
            pcm[:count] += (state.tail[:count] - pcm[:count]) * share
        if state.done == plan.first and not plan.kept:
            faded_in(pcm)
        if plan.request.closed and last == plan.limit:
            faded_out(pcm)
            rest = FRAME * plan.silence_behind
            pcm, places[-1] = np.concatenate([pcm, np.zeros(rest, np.float32)]), places[-1] + rest
        self._windows.append(_Window(state, places, pcm, self._meter.branch()))
        while self._windows[0].places[-1] < self._sample - _KEPT:
            self._windows.popleft()
        after = self._reported(state, places)
        self._append(voice.speaker.delivery.coloured(pcm, state.before))
        # No larger than can be made while this one sounds.
        window = max(_FIRST, min((last - first) * 3 // 2, _LARGEST))
        before = pcm[-TAPS:].copy()  # a window has more than TAPS
        self._state = replace(after, tail=tail, window=window, before=before)

    def _reported(self, state: _State, places: npt.NDArray[np.int64]) -> _State:
        """Return the state after frames that start at the samples `places` (the last one ends
        there). Report the words that begin in them, and count the syllables that end in them.
        """
        plan, first = state.plan, state.done
        assert plan is not None
        last = first + len(places) - 1
        over = plan.request.closed and last == plan.limit
        began, sounded = state.began, state.sounded
        onsets, edges, ends = plan.heard_onsets, plan.edges, plan.script.syllable_ends
        while began < len(onsets) and (onsets[began] < last or over):
            place = min(max(0, int(onsets[began]) - first), len(places) - 2)
            self._begin_words(state.first + began, state.first + began + 1, int(places[place]))
            began += 1
        while sounded < len(ends) and edges[sounded + 1] <= last:
            if ends[sounded]:
                self._meter.add(int(places[max(0, int(edges[sounded + 1]) - first)]))
            sounded += 1
        for end in sounded + np.flatnonzero(ends[sounded:])[:1]:
            if plan.script.words[end] < began:
                self._meter.expect(int(places[-1]) + FRAME * (int(edges[end + 1]) - last))
        return replace(state, done=last, began=began, sounded=sounded)

    def _begin_words(self, first: int, last: int, sample: int) -> None:
        """Report that the words between known parts `first` and `last` begin at a sample. A very
        long word has several parts and begins with its first one.
        """
        for place in range(first, last):
            number = self._numbers[place]
            if not place or self._numbers[place - 1] != number:
                self._begin_word(number, sample)

    def _end(self) -> None:
        """Append a silent frame for words without a sound behind the last sentence."""
        first, known = self._state.first, len(self._known)
        if first < known:
            self._begin_words(first, known, self._made)
            self._append(np.zeros(self._frame_samples, np.float32))
            self._state = _State(known)

    def _note_rate(self) -> None:
        if self._rate != self._noted_rate:  # and rewind() was not called for it
            self._go_back(self._sample)
        super()._note_rate()

    def rewind(self, sample: int) -> int | None:
        """See TtsSession; from the first frame at or after `sample`, also inside a word."""
        end = None if self._closed else self._go_back(sample)
        super()._note_rate()
        return end

    def _go_back(self, sample: int) -> int | None:
        starts = [int(each.places[-2]) for each in self._windows]  # of each window's last frame
        number = int(np.searchsorted(starts, sample))
        if number == len(starts):
            return None
        window = self._windows[number]
        back = int(np.searchsorted(window.places, sample))
        end = int(window.places[back])
        for _ in range(len(starts) - number):
            self._windows.pop()
        self._meter = window.meter.branch()
        state = window.state
        if back:
            kept = end - int(window.places[0])
            places = window.places[: back + 1]
            self._windows.append(replace(window, places=places, pcm=window.pcm[:kept]))
            tail, before = window.pcm[kept : kept + _JOIN], window.pcm[kept - TAPS : kept]
            state = replace(self._reported(state, places), tail=tail, before=before)
        self._state = replace(state, window=_FIRST)
        self._drop_from(end)
        waiting = {each.word: each for each in self._onsets if self._sample <= each.sample}
        self._onsets = deque(waiting.values())
        return end

    def close(self) -> None:
        super().close()
        self._windows.clear()
