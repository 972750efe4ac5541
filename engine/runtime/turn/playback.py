"""One utterance on its way through the loudspeaker, and the part that has been heard so far.

Invariant: the clock is the loudspeaker's count of played samples, as it was one device latency ago:
samples that left the ring are not audible yet. Silence of an underrun does not count. Samples are
kept until they were heard, so another loudspeaker can take over, and samples in the ring can be
replaced. Speech fades where it stops because words or frames are late, and where it resumes. The
speaker's thread writes; hush() and delivery() may be called from any thread.
"""

import math
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from engine.audio.base import Loudspeaker, Pcm
from engine.audio.pcm import Resampler, level_db, ramp
from engine.runtime.turn.edges import FADE_MS, Edges
from engine.runtime.turn.facts import Delivery
from engine.text.word import Word
from engine.tts.base import AudioFrame

# Minimum length that stays in the ring when the rest is replaced: enough time for a loaded machine.
RETIME_MARGIN_MS = 80
_FIXED_MS = 40  # of the next samples, which the device may take during the replacement
_REMEMBERED_MS = 50  # of heard sound: renew() resamples from before the replaced samples
_FILTER_MS = 5  # reach of soxr's filter before and after a sample (measured: 1e-6)


@dataclass(frozen=True)
class WordCue:
    """A word and its start, in samples of the utterance at the model's rate."""

    word: Word
    sample: int


@dataclass(frozen=True)
class WordBegun:
    """A word and the time since it became audible."""

    word: Word
    ago_s: float


@dataclass(frozen=True)
class FrameCue:
    """Start of a frame (samples of the utterance), its level, and the rate up to its middle:
    since the target changed and over the utterance.
    """

    sample: int
    level_db: float
    target: float | None
    measured: float | None
    mean: float | None = None


@dataclass(frozen=True)
class _PositionSample:
    """Samples of the utterance that had left the ring at a time (at the loudspeaker's rate)."""

    at: float
    played: int


class Playback:
    """Feeds one utterance to a loudspeaker and tracks the heard part."""

    def __init__(
        self,
        loudspeaker: Loudspeaker,
        model_rate: int,
        *,
        read: bool = False,
        clock: Callable[[], float] | None = None,
    ) -> None:
        """`read`: this loudspeaker is silent, see Delivery. `clock` (seconds; None = the engine's)
        gives only the age of a count of samples.
        """
        self._model_rate = model_rate  # Hz
        self._read = read
        self._clock = clock or time.monotonic
        self._words: list[WordCue] = []
        self._passed_words = 0  # words that begun_words() has returned
        self._frames: deque[FrameCue] = deque()
        self._unheard: deque[AudioFrame] = deque()
        self._pending: Pcm = np.zeros(0, np.float32)  # resampled, not yet in the ring
        self._produced = 0  # samples at the model's rate
        self._frame = 0  # samples of the last frame
        self._complete = False
        self._hushed_at: int | None = None  # sample of the utterance; None = audible
        self._resume_at = 0  # sample: those before it had left the ring by hush()
        self._underruns = 0  # on earlier loudspeakers of this utterance
        self._attach(loudspeaker, start=0)

    # ------------------------------------------------------------- writing (speaker's thread)

    def add(self, frame: AudioFrame, words: tuple[Word, ...], target: float | None) -> None:
        """Queue a frame; `words` are the words of its onsets, `target` is its rate. It replaces the
        samples from its first one; see renew().
        """
        if frame.sample < self._produced:
            frame = self._joined(frame)
        for onset, word in zip(frame.onsets, words, strict=True):
            self._words.append(WordCue(word, onset.sample))
        level = level_db(frame.pcm)
        self._frames.append(FrameCue(frame.sample, level, target, frame.rate, frame.mean))
        self._unheard.append(frame)
        self._frame = len(frame.pcm)
        self._produced = frame.sample + self._frame
        self._make(frame.pcm)

    def hold(self, silence_ms: float) -> None:
        """Before the first frame: play a silence, during which more frames are made."""
        count = round(silence_ms * self._loudspeaker.sample_rate / 1000)
        self._loudspeaker.write(np.zeros(count, np.float32))
        self._played_before = self._loudspeaker.samples_written

    def complete(self) -> None:
        """No frame follows: write the resampler's last samples."""
        if not self._complete:
            self._complete = True
            self._make(None)
            self._loudspeaker.expect_more(False)

    def pump(self) -> None:
        """Write as much as the ring accepts; called often."""
        self._queue(np.zeros(0, np.float32))
        self._record_position()
        old = self._heard_sample() - self._model_rate * _REMEMBERED_MS // 1000
        while self._unheard and self._unheard[0].sample + len(self._unheard[0].pcm) <= old:
            self._unheard.popleft()

    def starved(self) -> None:
        """The words ran out: the following silence is a pause, not an underrun."""
        self._loudspeaker.expect_more(False)

    def feeding(self) -> None:
        """Frames follow one another: silence is an underrun from now on."""
        self._loudspeaker.expect_more(True)

    def cut(self) -> None:
        """Drop the unheard samples and end the utterance."""
        self._loudspeaker.cut()
        self._loudspeaker.expect_more(False)
        self._pending = np.zeros(0, np.float32)
        self._unheard.clear()

    def move_to(self, loudspeaker: Loudspeaker) -> None:
        """Continue on another loudspeaker from the first unheard sample."""
        self._resume_at = self._heard_sample()
        self._go_on(loudspeaker, self._resume_at)

    def renewable(self, margin_ms: float = RETIME_MARGIN_MS) -> int:
        """Return the first sample that renew() can still replace in `margin_ms`."""
        count = self._played + round(margin_ms * self._loudspeaker.sample_rate / 1000)
        begin = self._start + count * self._model_rate // self._loudspeaker.sample_rate
        return begin + self._model_rate * _FILTER_MS // 1000

    def renew(self, end: int) -> None:
        """Remove the samples of the utterance from `end` on, also from the loudspeaker: they will
        be made again. Samples that have left the ring stay.
        """
        rate = self._loudspeaker.sample_rate
        kept = (end - self._start) * rate // self._model_rate - rate * _FILTER_MS // 1000
        kept = max(kept, self._played + rate * _FIXED_MS // 1000)
        self._edges.take_back(max(0, self._written - kept))
        self._forget(end)
        step = self._model_rate // math.gcd(self._model_rate, rate)
        filtered = self._sample(self._written) - self._model_rate * _FILTER_MS // 1000
        # A sample of the utterance that coincides with one of the loudspeaker.
        begin = max(0, filtered - self._start) // step * step
        self._pending = np.zeros(0, np.float32)
        self._resampler = Resampler(self._model_rate, rate)
        self._skipped = self._written - begin * rate // self._model_rate
        self._make_from(self._start + begin)

    # ------------------------------------------------------------------ asking (any thread)

    @property
    def produced(self) -> int:
        """Samples of the utterance that were added."""
        return self._produced

    @property
    def lead_ms(self) -> float:
        """Length of the produced speech in the ring; samples inside the device prevent no
        underrun.
        """
        return self.ahead_ms(self._produced)

    def ahead_ms(self, sample: int) -> float:
        """Return the time until this sample of the utterance leaves the ring."""
        return (sample - self._sample(self._played)) * 1000 / self._model_rate

    @property
    def frame_ms(self) -> float:
        """Length of the last frame; 0 before the first."""
        return self._frame * 1000 / self._model_rate

    @property
    def audible(self) -> bool:
        """Whether the first sample is audible."""
        return self._heard_sample() > 0

    @property
    def over(self) -> bool:
        """Whether every sample of a complete utterance was heard."""
        return self._complete and not len(self._pending) and self._aired >= self._written

    def delivery(self) -> Delivery:
        """Return the part that has been heard so far."""
        if self._read:
            return Delivery(read=True)
        position = self._heard_sample()
        cues = [cue for cue in list(self._words) if cue.sample < position]
        underruns = self._underruns + self._loudspeaker.underruns - self._underruns_before
        return Delivery(
            tuple(cue.word for cue in cues),
            position * 1000 / self._model_rate,
            underruns,
            tuple(cue.sample * 1000 / self._model_rate for cue in cues),
        )

    @property
    def hushed(self) -> bool:
        return self._hushed_at is not None

    def hush(self) -> None:
        """Stop counting; the caller makes the rest inaudible. cut() or resume() follows."""
        if self._hushed_at is None:
            self._resume_at = self._sample(self._played)
            self._hushed_at = self._heard_sample()

    def begun_words(self) -> tuple[WordBegun, ...]:
        """Return the words that became audible since the last call (speaker's thread)."""
        position = self._heard_sample()
        words = []
        for cue in self._words[self._passed_words :]:
            if cue.sample >= position:
                break
            words.append(WordBegun(cue.word, (position - cue.sample) / self._model_rate))
        self._passed_words += len(words)
        return tuple(words)

    def resume(self) -> None:
        """Continue after hush() from the first sample that the device does not have (speaker's
        thread); its own samples come out during the pause.
        """
        if self._hushed_at is not None:
            self._loudspeaker.cut()
            self._go_on(self._loudspeaker, self._resume_at)
            self._hushed_at = None

    def passed_frames(self) -> tuple[FrameCue, ...]:
        """Return the frames that became audible since the last call (speaker's thread)."""
        frames = []
        position = self._heard_sample()
        while self._frames and self._frames[0].sample < position:
            frames.append(self._frames.popleft())
        return tuple(frames)

    # ---------------------------------------------------------------------------- inside

    def _go_on(self, loudspeaker: Loudspeaker, start: int) -> None:
        """Play the kept samples of the utterance from `start`."""
        self._underruns += self._loudspeaker.underruns - self._underruns_before
        self._pending = np.zeros(0, np.float32)
        self._attach(loudspeaker, start=start)
        self._make_from(start)

    def _make_from(self, start: int) -> None:
        """Resample the kept samples of the utterance from `start`."""
        kept_from = self._unheard[0].sample if self._unheard else self._produced
        self._make(np.zeros(max(0, kept_from - start), np.float32))
        for frame in self._unheard:
            self._make(frame.pcm[max(0, start - frame.sample) :])
        if self._complete:
            self._make(None)

    def _forget(self, end: int) -> None:
        """Forget all added samples of the utterance from `end`."""
        self._produced, self._complete = end, False
        self._words = [cue for cue in self._words if cue.sample < end]
        self._frames = deque(cue for cue in self._frames if cue.sample < end)
        self._unheard = deque(
            replace(frame, pcm=frame.pcm[: end - frame.sample])
            for frame in self._unheard
            if frame.sample < end
        )

    def _joined(self, frame: AudioFrame) -> AudioFrame:
        """Return a frame that replaces samples. If it is late, its first samples are the old sound,
        which fades over into the new.
        """
        before = tuple(self._unheard)
        self.renew(frame.sample)
        reached = self._start + self._written * self._model_rate // self._loudspeaker.sample_rate
        late = min(reached - frame.sample, len(frame.pcm))
        if late <= 0:
            return frame
        old = [each.pcm[max(0, frame.sample - each.sample) :] for each in before]
        old_pcm = np.concatenate(old)[: late + self._model_rate * FADE_MS // 1000]
        over = frame.pcm[late : len(old_pcm)]
        over = over + (old_pcm[late:][: len(over)] - over) * ramp(1, 0, len(over))
        pcm = np.concatenate([old_pcm[:late], over, frame.pcm[late + len(over) :]])
        return replace(frame, pcm=pcm)

    def _make(self, pcm: Pcm | None) -> None:
        """Resample and queue; None = the end."""
        samples = self._resampler.end() if pcm is None else self._resampler.push(pcm)
        skipped = min(self._skipped, len(samples))
        self._skipped -= skipped
        self._queue(samples[skipped:])

    def _attach(self, loudspeaker: Loudspeaker, *, start: int) -> None:
        self._positions: tuple[_PositionSample, ...] = ()  # replaced whole: other threads read it
        self._latency_s = loudspeaker.latency_s
        self._loudspeaker = loudspeaker
        self._resampler = Resampler(self._model_rate, loudspeaker.sample_rate)
        self._skipped = 0  # resampled samples that the loudspeaker has already
        self._edges: Edges = Edges(loudspeaker, midway=start > 0)
        self._start: int = start  # sample of the utterance at the first written sample
        # The rest of an earlier utterance in the ring is played first.
        self._played_before = loudspeaker.samples_written
        self._underruns_before = loudspeaker.underruns

    def _queue(self, pcm: Pcm) -> None:
        """Write samples. Their end fades until more follow: this thread may be busy with the next
        frame when they run out.
        """
        if len(pcm) or self._complete:
            pcm = self._edges.joined(pcm, dry=self._written <= self._played)
        self._pending = np.concatenate((self._pending, pcm)) if len(self._pending) else pcm
        count = self._edges.write(self._pending)  # an empty write checks the device
        self._pending = self._pending[count:]
        if not self._complete and not len(self._pending):
            self._edges.fade()

    @property
    def _written(self) -> int:
        """Samples of this utterance, at the loudspeaker's rate."""
        return self._edges.written

    @property
    def _played(self) -> int:
        """Samples of this utterance that left the ring, at the loudspeaker's rate."""
        return self._loudspeaker.samples_played - self._played_before

    @property
    def _aired(self) -> int:
        """Audible samples of this utterance, at the loudspeaker's rate: those that had left the
        ring a latency ago. Until the record after that moment, the device played no faster than its
        rate; so the count waits in a gap and reaches its end in silence.
        """
        now, rate = self._clock(), self._loudspeaker.sample_rate
        then = now - self._latency_s
        positions = (*self._positions, _PositionSample(now, self._played))
        return max(each.played - math.ceil(max(0.0, each.at - then) * rate) for each in positions)

    def _record_position(self) -> None:
        """Record the ring's position; of the records before the latency only the last is kept
        (speaker's thread).
        """
        now = self._clock()
        old = [each for each in self._positions if each.at <= now - self._latency_s]
        self._positions = (
            *old[-1:],
            *self._positions[len(old) :],
            _PositionSample(now, self._played),
        )

    def _heard_sample(self) -> int:
        """Return how many samples of the utterance (at the model's rate) have been audible."""
        return self._sample(self._aired) if self._hushed_at is None else self._hushed_at

    def _sample(self, count: int) -> int:
        """Return the sample of the utterance (at the model's rate) for a count of the
        loudspeaker's.
        """
        sample = self._start + count * self._model_rate // self._loudspeaker.sample_rate
        return min(max(self._start, sample), self._produced)
