"""One utterance of VoXtream2: words in, frames out, with the rate read at every frame.

Words are read as they come, as far ahead as the network sees. So the samples depend on which frame
was the first to know a word, as they depend on the rate at each frame. With a look-ahead of 0 words
are read only when fewer than three phones are ahead, even if they came earlier; then the samples do
not depend on how calls to push_word and step are interleaved. A long text is spoken in passages of
complete sentences, each from the prompt alone: the speech of a small model gets worse after a
minute of its own speech, and a passage only costs a copy of the prompt's state. A sentence longer
than the temporal transformer's window is cut, between words if possible. Invariant: all state is
here; closing the session frees it, and no other session sees it.
"""

from abc import abstractmethod
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import torch
from torch import Tensor

from engine.audio.finishing import SilenceLimit, faded_out
from engine.codec.mimi import FRAME_MS, FRAME_SAMPLES, SAMPLE_RATE, Mimi
from engine.nn.sampling import race_noise
from engine.text.phonemes import Espeak
from engine.tts.base import Pcm, RateRange
from engine.tts.papers.session import PassageSession
from engine.tts.phones import PhoneTable
from engine.tts.rate import PLAIN, SyllableMeter, paced
from engine.tts.session import ANY_RATE
from engine.tts.voxtream.config import DURATION_TOKENS, VoxtreamGeneration
from engine.tts.voxtream.network.frames import FrameMaker, PreparedPrompt, pack_controls
from engine.tts.voxtream.network.model import VoxtreamModel
from engine.tts.voxtream.rate import (
    FASTEST,
    RATE_TABLE,
    SLOWEST,
    DurationState,
    RateTarget,
    SpeedControl,
    Stretch,
    rate_target,
)
from engine.tts.voxtream.script import AlignmentCursor, Span, VoxtreamScript

OWN_PACE_MS = 1000  # of plain speech; less is too little to measure the voice's own pace


@dataclass(frozen=True)
class VoxtreamParts:
    """Parts that all sessions of a model share and none may change."""

    generation: VoxtreamGeneration
    model: VoxtreamModel
    mimi: Mimi
    table: PhoneTable
    espeak: Espeak
    rates: Mapping[float, RateTarget] = field(default_factory=lambda: RATE_TABLE)
    loudness: float | None = None  # LUFS, of prompts; None = as recorded


@dataclass(frozen=True)
class FrameTarget:
    """The target of a frame: the pace of its word, and the network's rate in SPS (None
    = its own).
    """

    pace: float = PLAIN
    rate: float | None = None


class FrameSession(PassageSession):
    """Base of the sessions of VoXtream2 and VoXtream, which draw one frame after the other. The
    samples of a frame come with the next one.
    """

    _script: VoxtreamScript
    _frames: FrameMaker  # of the passage

    def __init__(
        self, espeak: Espeak, prompt: PreparedPrompt, seed: int, rates: RateRange = ANY_RATE
    ) -> None:
        super().__init__(SAMPLE_RATE, espeak, rates)
        self._prompt = prompt
        self._generator = torch.Generator().manual_seed(seed)
        self._silence = SilenceLimit(SAMPLE_RATE)

    def _begin_passage(self, first_word: int) -> None:
        """Restart from the prompt alone. The rate and its measurements stay."""
        self._passage = 0  # frames since the passage began
        self._span: Span | None = None  # phones of the last frame; None = nothing was drawn

    @abstractmethod
    def _read_ahead(self) -> bool:
        """Hear the words that the next frame can see. False when it needs more of them."""

    @abstractmethod
    def _pass_over_words(self) -> None:
        """Append a silent frame for a passage without a sound, in which its words begin."""

    @abstractmethod
    def _draw(self, before: Span | None) -> None:
        """Draw the next frame, and append the samples of the one before, which speaks `before`
        (None = it is the first of a passage).
        """

    def _make(self) -> bool:
        if self._passage_over or not self._read_ahead():
            return False
        if not self._script.has_phones:
            self._pass_over_words()
        else:
            self._draw(self._span)
        return True


class VoxtreamSession(FrameSession):
    """The TtsSession of VoXtream2. Without a requested rate (unless `own_rate` fixes one), a word's
    pace is a factor on the measured rate of this utterance's plain words. It has no effect before
    one second of them was measured.
    """

    def __init__(
        self,
        parts: VoxtreamParts,
        prompt: PreparedPrompt,
        fresh_frames: Callable[[], FrameMaker],
        seed: int,
    ) -> None:
        """`fresh_frames` returns a new maker of frames for each passage."""
        rates = RateRange(min(parts.rates), max(parts.rates))
        super().__init__(parts.espeak, prompt, seed, rates)
        window = parts.generation.rate_window_frames
        self._parts = parts
        self._durations = DurationState(len(DURATION_TOKENS), window)
        self._plain_frames = 0  # of speech at the model's own pace
        self._plain_meter = SyllableMeter(1000 / FRAME_MS, window)  # of those
        self._frame_target = FrameTarget()  # of the frame drawn last
        self._last_target = FrameTarget()  # of the one before it
        self._last_rate: float | None = None  # at the frame drawn last
        self._stretch = Stretch(SAMPLE_RATE)
        self._speed_control = SpeedControl()
        self._begun_words: deque[int] = deque()  # whose first sample is not in the queue yet
        self._begin_marks: list[int] = []  # positions of those in the next frame
        self._fresh_frames = fresh_frames
        self._frames = fresh_frames()
        self._plain = False  # True if the frame due is at the model's own pace
        self._stretched = 0  # samples before they were stretched

    def _begin_passage(self, first_word: int) -> None:
        super()._begin_passage(first_word)
        if first_word:
            self._frames.close()
            self._frames = self._fresh_frames()
        self._script = VoxtreamScript(self._prompt, self._parts.table, first_word)
        self._cursor = AlignmentCursor(
            self._prompt.last_phone, DURATION_TOKENS, self._parts.generation
        )

    def _end(self) -> None:
        self._append_stretched(*self._stretch.finish())

    @property
    def taken(self) -> int:
        """The number of words read. If the model reads ahead, samples depend on its value before
        each step; see base.py.
        """
        return len(self._words_heard)

    def _read_ahead(self) -> bool:
        script, generation = self._script, self._parts.generation
        wanted = max(generation.min_look_ahead, generation.look_ahead)
        full = self._passage >= generation.passage_frames
        while not script.closed and self._ahead() < wanted:
            if not self._read(passage_full=full):
                return self._ahead() >= generation.min_look_ahead
        return True

    def _ahead(self) -> int:
        """Return the number of known phones after the current one."""
        return self._script.phone_count - self._cursor.last - 1

    def _pass_over_words(self) -> None:
        self._passage_over = True
        marks = self._marks(Span(0, 0, ended=True))
        self._sound(torch.zeros(FRAME_SAMPLES), 1.0, marks)

    def _draw(self, before: Span | None) -> None:
        script = self._script
        if before is None:
            opened = self._prompt.open(script.rows())
            self._span = self._move(self._frames.first(opened, self._controls()), None)
            self._last_target = self._frame_target
            return
        self._plain = self.rate is None and self._pace() == PLAIN
        phones, said = script.vector(before), script.said(before)
        script.forget_before(before.first)
        made = self._frames.next(phones, said, self._controls())
        self._span = self._move(made.token, before)
        self._passage += 1
        is_cut = script.is_cut(before, self._span, self._prompt.room - self._passage)
        self._passage_over = self._passage_over or is_cut
        sound = made.pcm
        if self._passage_over:
            sound = torch.from_numpy(faded_out(sound.numpy(), SAMPLE_RATE))
        self._speak(sound, before)
        if is_cut:
            self._return_words(script.places.begun_words)
        self._last_target = self._frame_target

    def _controls(self) -> Tensor:
        """Return the controls of the next frame: guidance, the rate's bias, and noise."""
        generation = self._parts.generation
        guidance, pull = generation.semantic_guidance, (0.0,) * len(self._durations.counts)
        pace = self._pace()
        rate = self._wanted(pace)
        if rate is not None:
            rate = min(max(rate, generation.lowest_rate), generation.highest_rate)
            target = rate_target(rate, self._parts.rates)
            if generation.stretches and self.rate != self._last_rate:
                self._durations.assume_on_target(target)
                self._speed_control.restart()
            guidance = target.guidance
            pull = self._durations.rate_bias(target, generation.pull_scale)
        self._frame_target, self._last_rate = FrameTarget(pace, rate), self.rate
        token_noise = race_noise(len(pull), self._generator)
        code_noise = race_noise(generation.top_codes, self._generator)
        return pack_controls(guidance, pull, token_noise, code_noise)

    def _wanted(self, pace: float) -> float | None:
        """Return the rate for a word with this pace; None = the network's own."""
        rate = self.rate
        if rate is None:
            rate = self._parts.generation.own_rate or None
        if rate is None and pace != PLAIN and self._plain_frames * FRAME_MS >= OWN_PACE_MS:
            rate = self._plain_meter.recent_rate(self._plain_frames)
        return None if rate is None else paced(self._rates.nearest(rate), pace)

    def _speed(self, syllables: int) -> float:
        """Return the playing speed of the previous frame: the wanted rate over the network's,
        corrected for the speech so far, in which these syllables have just ended.
        """
        wanted, spoken = self._wanted(self._last_target.pace), self._last_target.rate
        if wanted is None or spoken is None or not self._parts.generation.stretches:
            return 1.0
        speed = self._speed_control.speed(FRAME_MS / 1000, syllables, wanted, spoken)
        return min(max(speed, SLOWEST), FASTEST)

    def _pace(self) -> float:
        """Return the pace of the next frame's word."""
        places, span = self._script.places, self._span
        word = places.begun_words if span is None else places.word_at(span.last)
        return self._paces[word]

    def _move(self, token: int, before: Span | None) -> Span:
        """Return the phones of this frame. One frame after the end of the text, the passage is
        over.
        """
        script, cursor = self._script, self._cursor
        self._durations.observe(token)
        if before is not None and before.ended:
            self._passage_over = True
            return before
        inside_word = script.is_inside_word(cursor.last)
        return cursor.advance(
            token, script.phone_count, closed=script.closed, inside_word=inside_word
        )

    def _speak(self, pcm: Tensor, span: Span) -> None:
        """Append the samples of a frame that speaks `span`."""
        marks = self._marks(span)
        syllables = self._script.syllables_ended(span)
        speed = self._speed(syllables)
        self._meter.add(self._made, syllables)
        if self._plain:
            self._plain_meter.add(self._plain_frames, syllables)
            self._plain_frames += 1
        self._sound(pcm, speed, marks)

    def _marks(self, span: Span) -> list[int]:
        """Return the positions, before stretching, of words that begin in the next frame."""
        half = FRAME_SAMPLES // 2
        words = self._script.words_begun(span)
        self._begun_words += [word for word, _ in words]
        return [self._stretched + late * half for _, late in words]

    def _sound(self, pcm: Tensor, speed: float, marks: list[int]) -> None:
        """Stretch and append samples. They are omitted if they make a silence too long."""
        samples = pcm.numpy()
        marks = sorted(self._begin_marks + marks)
        if not self._passage_over and self._silence.exceeds(samples, speed):
            self._begin_marks = marks
            return
        self._begin_marks = []
        self._stretched += len(samples)
        self._append_stretched(*self._stretch.push(samples, speed, marks))

    def _append_stretched(self, pcm: Pcm, places: list[int]) -> None:
        for place in places:
            self._begin_word(self._begun_words.popleft(), place)
        self._append(pcm)
        self._speed_control.hear(len(pcm) / SAMPLE_RATE)

    def close(self) -> None:
        if not self._closed:
            self._frames.close()
        super().close()
