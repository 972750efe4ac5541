"""One utterance on its way through the loudspeaker, and the part that has been heard so far.

Invariant: the clock is the count of samples the loudspeaker played, as it stood one latency of the
device ago: what has left the ring is not in the air yet. Silence of an underrun is not heard.
Samples are kept until they were heard, so another loudspeaker can take over, and those still in the
ring can be taken back and made again. Speech is faded where it stops because words or frames are
late, and where it goes on. The speaker's thread writes; hush() and delivery() may be called from
any thread.
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

# At least this stays in the ring when the rest is made again: a loaded machine makes more in time.
KEPT_MS = 80
_FIXED_MS = 40  # of the next sound: the device may take it while the rest is taken back
_REMEMBERED_MS = 50  # of heard sound: renew() resamples from before the replaced samples
_FILTER_MS = 5  # reach of soxr's filter before and after a sample (measured: 1e-6)


@dataclass(frozen=True)
class WordCue:
    """A word and where it begins, in samples of the utterance at the model's rate."""

    word: Word
    sample: int


@dataclass(frozen=True)
class WordBegun:
    """A word and how long ago it began to be heard."""

    word: Word
    ago_s: float


@dataclass(frozen=True)
class FrameCue:
    """Where a frame begins (samples of the utterance), its level and the rate measured up to its
    end, since the target changed and over the utterance.
    """

    sample: int
    level_db: float
    target: float | None
    measured: float | None
    mean: float | None = None


@dataclass(frozen=True)
class _Look:
    """How many samples of the utterance had left the ring at a time (at the loudspeaker's rate)."""

    at: float
    played: int


class Playback:
    """Feeds one utterance to a loudspeaker and knows what of it was heard."""

    def __init__(
        self,
        loudspeaker: Loudspeaker,
        model_rate: int,
        *,
        read: bool = False,
        clock: Callable[[], float] | None = None,
    ) -> None:
        """`read`: nobody can hear this loudspeaker, see Delivery. `clock` (seconds; None = the
        engine's) only tells how old a count of samples is.
        """
        self._model_rate = model_rate  # Hz
        self._read = read
        self._clock = clock or time.monotonic
        self._words: list[WordCue] = []
        self._passed_words = 0  # words begun_words() has given out
        self._frames: deque[FrameCue] = deque()
        self._unheard: deque[AudioFrame] = deque()
        self._pending: Pcm = np.zeros(0, np.float32)  # resampled, not yet taken by the ring
        self._produced = 0  # samples at the model's rate
        self._frame = 0  # samples of the last frame
        self._complete = False
        self._hushed_at: int | None = None  # sample of the utterance; None = audible
        self._resume_at = 0  # sample: what had left the ring by hush() comes out of the device
        self._underruns = 0  # of loudspeakers this utterance has left
        self._attach(loudspeaker, start=0)

    # ------------------------------------------------------------- writing (speaker's thread)

    def add(self, frame: AudioFrame, words: tuple[Word, ...], target: float | None) -> None:
        """Queue a frame; `words` are the words of its onsets, `target` the rate it was made at. It
        takes the place of what was added from its first sample on; see renew().
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
        """Before the first frame: let a silence sound first, in which more frames are made."""
        count = round(silence_ms * self._loudspeaker.sample_rate / 1000)
        self._loudspeaker.write(np.zeros(count, np.float32))
        self._played_before = self._loudspeaker.samples_written

    def complete(self) -> None:
        """No frame follows: hand over what the resampler still holds."""
        if not self._complete:
            self._complete = True
            self._make(None)
            self._loudspeaker.expect_more(False)

    def pump(self) -> None:
        """Give the ring what it takes; called often."""
        self._queue(np.zeros(0, np.float32))
        self._look()
        old = self._heard_sample() - self._model_rate * _REMEMBERED_MS // 1000
        while self._unheard and self._end_of(self._unheard[0]) <= old:
            self._unheard.popleft()

    def starved(self) -> None:
        """The words ran out: silence from here on is a pause, not an underrun."""
        self._loudspeaker.expect_more(False)

    def feeding(self) -> None:
        """Frames follow one another: silence from here on is an underrun."""
        self._loudspeaker.expect_more(True)

    def cut(self) -> None:
        """Drop what was not heard and end the utterance."""
        self._loudspeaker.cut()
        self._loudspeaker.expect_more(False)
        self._pending = np.zeros(0, np.float32)
        self._unheard.clear()

    def move_to(self, loudspeaker: Loudspeaker) -> None:
        """Go on through another loudspeaker from the first sample that was not heard."""
        self._resume_at = self._heard_sample()
        self._go_on(loudspeaker, self._resume_at)

    def renewable(self, kept_ms: float = KEPT_MS) -> int:
        """The first sample of the utterance that renew() still reaches in `kept_ms`."""
        count = self._played + round(kept_ms * self._loudspeaker.sample_rate / 1000)
        begin = self._start + count * self._model_rate // self._loudspeaker.sample_rate
        return begin + self._model_rate * _FILTER_MS // 1000

    def renew(self, end: int) -> None:
        """Take back from the loudspeaker what comes from the sample `end` of the utterance on, and
        forget it: that will be made again. What has left the ring by now stays.
        """
        rate = self._loudspeaker.sample_rate
        kept = (end - self._start) * rate // self._model_rate - rate * _FILTER_MS // 1000
        kept = max(kept, self._played + rate * _FIXED_MS // 1000)
        self._edges.take_back(max(0, self._written - kept))
        self._forget(end)
        step = self._model_rate // math.gcd(self._model_rate, rate)
        filtered = self._sample(self._written) - self._model_rate * _FILTER_MS // 1000
        # Where a sample of the utterance is one of the loudspeaker's too: there both fall together.
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
        """How much speech was produced that has not left the ring; what is on its way through the
        device protects from no underrun.
        """
        return self.ahead_ms(self._produced)

    def ahead_ms(self, sample: int) -> float:
        """How long it takes until this sample of the utterance leaves the ring."""
        return (sample - self._sample(self._played)) * 1000 / self._model_rate

    @property
    def frame_ms(self) -> float:
        """How long the frame last produced is; 0 before the first."""
        return self._frame * 1000 / self._model_rate

    @property
    def audible(self) -> bool:
        """Whether the first sample is in the air."""
        return self._heard_sample() > 0

    @property
    def over(self) -> bool:
        """Whether every sample of a complete utterance was heard."""
        return self._complete and not len(self._pending) and self._aired >= self._written

    def delivery(self) -> Delivery:
        """What has reached the ear so far."""
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
        """Stop counting as heard; the owner makes it inaudible. cut() or resume() follows."""
        if self._hushed_at is None:
            self._resume_at = self._sample(self._played)
            self._hushed_at = self._heard_sample()

    def begun_words(self) -> tuple[WordBegun, ...]:
        """Words that began to be heard since the last call (speaker's thread)."""
        position = self._heard_sample()
        words = []
        for cue in self._words[self._passed_words :]:
            if cue.sample >= position:
                break
            words.append(WordBegun(cue.word, (position - cue.sample) / self._model_rate))
        self._passed_words += len(words)
        return tuple(words)

    def resume(self) -> None:
        """Go on, after hush(), from the first sample the device was not given (speaker's thread):
        what it had comes out of it in the pause.
        """
        if self._hushed_at is not None:
            self._loudspeaker.cut()
            self._go_on(self._loudspeaker, self._resume_at)
            self._hushed_at = None

    def passed_frames(self) -> tuple[FrameCue, ...]:
        """Frames that began to be heard since the last call (speaker's thread)."""
        frames = []
        position = self._heard_sample()
        while self._frames and self._frames[0].sample < position:
            frames.append(self._frames.popleft())
        return tuple(frames)

    # ---------------------------------------------------------------------------- inside

    def _go_on(self, loudspeaker: Loudspeaker, start: int) -> None:
        """Play what is kept from the sample `start` of the utterance on."""
        self._underruns += self._loudspeaker.underruns - self._underruns_before
        self._pending = np.zeros(0, np.float32)
        self._attach(loudspeaker, start=start)
        self._make_from(start)

    def _make_from(self, start: int) -> None:
        """Resample what is kept from the sample `start` of the utterance on."""
        kept_from = self._unheard[0].sample if self._unheard else self._produced
        self._make(np.zeros(max(0, kept_from - start), np.float32))
        for frame in self._unheard:
            self._make(frame.pcm[max(0, start - frame.sample) :])
        if self._complete:
            self._make(None)

    def _forget(self, end: int) -> None:
        """Of what was added, what comes from the sample `end` of the utterance on."""
        self._produced, self._complete = end, False
        self._words = [cue for cue in self._words if cue.sample < end]
        self._frames = deque(cue for cue in self._frames if cue.sample < end)
        self._unheard = deque(
            replace(frame, pcm=frame.pcm[: end - frame.sample])
            for frame in self._unheard
            if frame.sample < end
        )

    def _joined(self, frame: AudioFrame) -> AudioFrame:
        """A frame that was made again. If it comes too late, its first samples are what sounds in
        their place, and that goes over into the others.
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
        """Resample and queue; None = no more comes."""
        samples = self._resampler.end() if pcm is None else self._resampler.push(pcm)
        skipped = min(self._skipped, len(samples))
        self._skipped -= skipped
        self._queue(samples[skipped:])

    def _attach(self, loudspeaker: Loudspeaker, *, start: int) -> None:
        self._looks: tuple[_Look, ...] = ()  # replaced whole: other threads read it
        self._latency_s = loudspeaker.latency_s
        self._loudspeaker = loudspeaker
        self._resampler = Resampler(self._model_rate, loudspeaker.sample_rate)
        self._skipped = 0  # samples it will give that the loudspeaker has already
        self._edges: Edges = Edges(loudspeaker, midway=start > 0)
        self._start: int = start  # sample of the utterance that the first written sample stands for
        # What an earlier utterance has left in the ring is played first.
        self._played_before = loudspeaker.samples_written
        self._underruns_before = loudspeaker.underruns

    def _queue(self, pcm: Pcm) -> None:
        """Write samples. Until more follow they end in a fade, because this thread may be busy with
        the next frame when they run out.
        """
        if len(pcm) or self._complete:
            pcm = self._edges.joined(pcm, dry=self._unplayed <= 0)
        self._pending = np.concatenate((self._pending, pcm)) if len(self._pending) else pcm
        count = self._edges.write(self._pending)  # an empty one checks the device
        self._pending = self._pending[count:]
        if not self._complete and not len(self._pending):
            self._edges.fade()

    @property
    def _written(self) -> int:
        """Samples of this utterance, at the loudspeaker's rate."""
        return self._edges.written

    @property
    def _unplayed(self) -> int:
        """Samples of this utterance that have not left the ring."""
        return self._written - self._played

    @property
    def _played(self) -> int:
        """Samples of this utterance that left the ring, at the loudspeaker's rate."""
        return self._loudspeaker.samples_played - self._played_before

    @property
    def _aired(self) -> int:
        """Samples of this utterance in the air, at the loudspeaker's rate: those that had left the
        ring a latency ago. That moment lies between two looks, and until the later one the device
        played no faster than its rate; so the count waits in a gap and gets to its end in silence.
        """
        now, rate = self._clock(), self._loudspeaker.sample_rate
        then = now - self._latency_s
        looks = (*self._looks, _Look(now, self._played))
        return max(each.played - math.ceil(max(0.0, each.at - then) * rate) for each in looks)

    def _look(self) -> None:
        """Note how far the ring is now; what was noted before the latency serves no more, but for
        the last of it (speaker's thread).
        """
        now = self._clock()
        old = [each for each in self._looks if each.at <= now - self._latency_s]
        self._looks = (*old[-1:], *self._looks[len(old) :], _Look(now, self._played))

    def _heard_sample(self) -> int:
        """How many samples of the utterance (at the model's rate) have been in the air."""
        return self._sample(self._aired) if self._hushed_at is None else self._hushed_at

    def _sample(self, count: int) -> int:
        """The sample of the utterance (at the model's rate) that a count of the loudspeaker's
        stands for.
        """
        sample = self._start + count * self._model_rate // self._loudspeaker.sample_rate
        return min(max(self._start, sample), self._produced)

    def _end_of(self, frame: AudioFrame) -> int:
        return frame.sample + len(frame.pcm)
