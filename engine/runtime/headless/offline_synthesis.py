"""Speak a text without a conversation: the same filter and session as a reply, measured.

Invariant: everything happens on the calling thread, which owns the synthesiser meanwhile. The
samples depend on text, voice, seed and rate plan; the clock only measures and paces the words.
"""

import logging
import re
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final

from engine.audio.base import Pcm
from engine.errors import InvalidInput
from engine.names_file import in_force
from engine.runtime.turn.breaks import Breaks
from engine.settings import FAST_LIMIT, SLOWEST
from engine.text.paced import PacedText
from engine.text.speakable import LEFT_OUT, check_length, nothing_to_say
from engine.text.word import Word
from engine.tts.base import AudioFrame, Finished, Onset, Starved, TtsModel, Voice
from engine.tts.rate import paced

log = logging.getLogger(__name__)

MOST_CHARACTERS: Final = 200_000  # some four hours of speech
_LONGEST_DELAY_S: Final = 60.0
_NUMBER: Final = r"(?:\d+(?:\.\d*)?|\.\d+)"
_STEP: Final = re.compile(rf"\s*({_NUMBER})\s*:\s*(own|-?{_NUMBER}(?:e[-+]?\d+)?)\s*")
_HINT: Final = (
    "Write seconds:rate pairs with rates from 1 to 13 or 'own', for example 0:2,3:6,8:own."
)
_AT_ONCE: Final = 32  # words: reading 20,000 takes seconds; a voice looks some ten ahead


@dataclass(frozen=True)
class SpokenWord:
    """A word as pushed to the voice, with its position in the audio."""

    text: str
    start_s: float
    end_s: float


@dataclass(frozen=True)
class RatePoint:
    """At `t` seconds: the target of the current word (None = own pace) and the measured rate since
    that changed, in SPS.
    """

    t: float
    target: float | None
    measured: float


@dataclass(frozen=True)
class SynthesisReport:
    """Measurements of a synthesis. Field names are the keys of --json and do not change between
    releases.

    `first_packet_ms`: first word pushed to first samples out. `rtf`: computing time over length of
    audio. `underruns`: how often a loudspeaker that began with the first samples would have run dry
    although words were available.
    """

    engine: str
    device: str
    first_packet_ms: float
    rtf: float
    audio_s: float
    underruns: int
    words: tuple[SpokenWord, ...]
    rate: tuple[RatePoint, ...]


@dataclass(frozen=True)
class RatePlan:
    """Targets in SPS over the time of an utterance, each from a second of produced speech on; None
    = the voice's own pace.
    """

    steps: tuple[tuple[float, float | None], ...] = ((0.0, None),)

    def at(self, seconds: float) -> float | None:
        """Return the target at this second of produced speech."""
        target = None
        for at_s, rate in self.steps:
            if at_s <= seconds:
                target = rate
        return target


def constant(rate: float | None) -> RatePlan:
    """Return a plan with one rate from beginning to end."""
    return RatePlan(((0.0, rate),))


def parse(text: str) -> RatePlan:
    """Parse a rate plan, "0:2,3:6". Before the first time the voice has its own pace. InvalidInput
    names the wrong pair.
    """
    steps = list[tuple[float, float | None]]()
    for pair in text.split(","):
        match = _STEP.fullmatch(pair)
        if match is None:
            raise InvalidInput(
                "Not a step of a rate plan: '{pair}'.", hint=_HINT, pair=pair.strip()[:40]
            )
        rate = None if match[2] == "own" else float(match[2])
        if rate is not None and not SLOWEST <= rate <= FAST_LIMIT:
            raise InvalidInput(
                "The rate in '{pair}' must be from 1 to 13 syllables per second, not {value}.",
                hint=_HINT,
                pair=pair.strip()[:40],
                value=f"{rate:g}",
            )
        steps.append((float(match[1]), rate))
    if any(later <= earlier for (earlier, _), (later, _) in pairwise(steps)):
        raise InvalidInput(
            "The times of the rate plan '{text}' do not rise.", hint=_HINT, text=text[:80]
        )
    return RatePlan(tuple(steps))


@dataclass(frozen=True)
class SpeechRequest:
    """A text to speak. `word_delay_s` between the words imitates a language model; `pacing`:
    figures, names and asides have paces of their own.
    """

    text: str
    voice: Voice
    plan: RatePlan = field(default_factory=RatePlan)
    seed: int = 7
    word_delay_s: float = 0.0
    pacing: bool = True


@dataclass(frozen=True)
class Clock:
    """The source of time; tests use a manually stepped one."""

    now: Callable[[], float] = time.perf_counter  # s
    wait: Callable[[float], None] = time.sleep  # s


class OfflineSynthesis:
    """One request spoken once: iterate frames(), then call report()."""

    def __init__(
        self,
        model: TtsModel,
        request: SpeechRequest,
        clock: Clock | None = None,
        show: Callable[[float], None] = lambda share: None,
    ) -> None:
        """`show` gets the spoken share of the text, 0..1, with every frame.

        InvalidInput for a text that is too long or has no words, or an invalid delay.
        """
        check_length(request.text, MOST_CHARACTERS)
        if not 0 <= request.word_delay_s <= _LONGEST_DELAY_S:
            raise InvalidInput("The delay between words must be from 0 to 60 seconds.")
        # like those of a language model
        self._deltas = deque(re.findall(r"\s*\S+|\s+$", request.text))
        language = request.voice.language
        text = PacedText(pacing=False, usual=language)
        if not any(text.push(each).words for each in self._deltas) and not text.end().words:
            raise nothing_to_say(left_out=text.left_out)
        self._text = PacedText(pacing=request.pacing, usual=language, names=in_force())
        self._is_complete = False  # the text
        self._next_at = 0.0  # when another word is due
        self._model = model
        self._request = request
        self._clock = clock or Clock()
        self._show = show
        self._underruns = 0
        self._dry_at: float | None = None  # of the loudspeaker; None = it should be silent
        self._words: list[Word] = []
        self._onsets: list[Onset] = []
        self._rate: list[RatePoint] = []
        self._samples = 0
        self._busy_s = 0.0
        self._pushed_at: float | None = None  # when the first word was pushed
        self._first_packet_s = 0.0

    def frames(self, wait: Callable[[float], None] | None = None) -> Iterator[AudioFrame]:
        """Speak; yield each frame as it is made. `wait` takes seconds (None: the clock's)."""
        wait = wait or self._clock.wait
        session = self._model.open(self._request.voice, seed=self._request.seed)
        self._next_at = self._clock.now()
        with Breaks(session, self._model.info.sample_rate) as speech:
            while True:
                self._push_due(speech)
                step, target = self._step(speech)
                if isinstance(step, AudioFrame):
                    self._note(step, target)
                    yield step
                elif isinstance(step, Starved):
                    self._dry_at = None  # the following silence is a pause, not an underrun
                    wait(max(0.0, self._next_at - self._clock.now()))
                else:
                    return

    def pcm(self) -> Iterator[Pcm]:
        """Yield the samples [S] of every frame."""
        return (frame.pcm for frame in self.frames())

    def word(self, onset: Onset) -> Word:
        """Return the word of an onset."""
        return self._words[onset.word]

    def report(self) -> SynthesisReport:
        """Return the measurements, after the last frame."""
        sample_rate = self._model.info.sample_rate
        starts = [onset.sample for onset in self._onsets]
        ends = [*starts[1:], self._samples]
        words = tuple(
            SpokenWord(word.text, round(start / sample_rate, 3), round(end / sample_rate, 3))
            for word, start, end in zip(self._words, starts, ends, strict=True)
        )
        audio_s = self._samples / sample_rate
        return SynthesisReport(
            engine=self._model.info.name,
            device=self._model.info.device,
            first_packet_ms=round(self._first_packet_s * 1000, 2),
            rtf=round(self._busy_s / audio_s, 4),
            audio_s=round(audio_s, 3),
            underruns=self._underruns,
            words=words,
            rate=tuple(self._rate),
        )

    def _push_due(self, speech: Breaks) -> None:
        """Push the words that a language model would have written by now, at most as many as the
        next frames need: more would delay the start of a long text.
        """
        words = list[Word]()
        while self._deltas and len(words) < _AT_ONCE and self._clock.now() >= self._next_at:
            words += self._text.push(self._deltas.popleft()).words
            self._next_at += self._request.word_delay_s
        if not self._deltas and not self._is_complete:
            self._is_complete = True
            words += self._text.end().words
            if self._text.left_out:
                log.warning(LEFT_OUT)
        if words and not self._words:
            self._pushed_at = self._clock.now()
        self._words += words
        for word in words:
            speech.push(word)
        if self._is_complete:
            speech.end_input()

    def _step(self, speech: Breaks) -> tuple[AudioFrame | Starved | Finished, float | None]:
        target = self._request.plan.at(self._samples / self._model.info.sample_rate)
        speech.rate = target
        began = self._clock.now()
        step = speech.step()
        self._busy_s += self._clock.now() - began
        return step, target

    def _note(self, frame: AudioFrame, target: float | None) -> None:
        now = self._clock.now()
        if self._samples == 0 and self._pushed_at is not None:
            self._first_packet_s = now - self._pushed_at
        if self._dry_at is not None and now > self._dry_at:
            self._underruns += 1
        seconds = len(frame.pcm) / self._model.info.sample_rate
        self._dry_at = max(now, self._dry_at or now) + seconds
        self._samples += len(frame.pcm)
        self._onsets += frame.onsets
        if target is not None and self._onsets:
            target = paced(target, self.word(self._onsets[-1]).pace)
        if frame.rate is not None:
            end_s = self._samples / self._model.info.sample_rate
            self._rate.append(RatePoint(round(end_s, 3), target, round(frame.rate, 3)))
        if self._onsets:  # pace tags are part of the text, but belong to no word
            self._show(min(1.0, self.word(self._onsets[-1]).end / len(self._request.text)))
