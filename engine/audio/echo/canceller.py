"""Takes what the loudspeaker plays out of what the microphone hears: a filter, then WebRTC.

Invariant: a canceller is given what was played and what was heard in step, 10 ms of each at a time,
and gives back 10 ms. livekit carries WebRTC's audio processing (an optional package); without it
nothing is cancelled, and `cancels` says so. Measured in tests/benchmarks/barge_in.py.
"""

from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, Protocol

import numpy as np

from engine.audio.base import Pcm
from engine.audio.echo.adaptive import BLOCK, AdaptiveFilter
from engine.audio.echo.double_talk import DoubleTalk

SAMPLE_RATE = 16_000  # Hz
FRAME = BLOCK  # samples: 10 ms, the only size the processing takes
_FULL_SCALE = 32767.0


class EchoCanceller(Protocol):
    """Works on one pair of streams; used from one thread."""

    @property
    def cancels(self) -> bool:
        """Whether the echo is really cancelled."""
        ...

    @property
    def improves(self) -> bool:
        """Whether the microphone is changed even when nothing was played (noise, level)."""
        ...

    @property
    def double_talk(self) -> bool:
        """Whether the frames processed last held more than the echo of what was played."""
        ...

    def reset(self) -> None:
        """Forget the room, because the delay between the two streams has changed."""
        ...

    def process(self, heard: Pcm, played: Pcm, delay_ms: int) -> Pcm:
        """What the person said, of FRAME samples heard while FRAME samples were played.

        `delay_ms` is how much later than in `played` a sound is in `heard`; 0 when not known.
        """
        ...


@dataclass(frozen=True)
class Cleaning:
    """What to do to the microphone's samples: remove the echo, remove noise, even out the level."""

    echo: bool = True
    noise: bool = False
    level: bool = False


class Passthrough:
    """The microphone as it is."""

    cancels = False
    improves = False
    double_talk = False

    def reset(self) -> None:
        """Nothing is remembered."""

    def process(self, heard: Pcm, played: Pcm, delay_ms: int) -> Pcm:
        return heard


class WebRtcCanceller:
    """An adaptive filter, then livekit's AudioProcessingModule on what it leaves, told what the
    filter took away: 0.3 ms of one core for 10 ms of sound (measured here).

    By itself, WebRTC's canceller mutes the person while both sound: with the echo 6 dB above the
    person, a voice detector found 38 % of their speech in its output, and 4 of 30 sentences not at
    all; behind the filter 71 % and all of them, of 82 % in what they said. The filter by itself
    leaves echoes that the detector takes for a person. The output is about 8 ms late.
    """

    def __init__(self, cleaning: Cleaning) -> None:
        # A moment and 20 MB: only when somebody listens while something is played.
        from livekit.rtc.apm import AudioProcessingModule
        from livekit.rtc.audio_frame import AudioFrame

        self.cancels = cleaning.echo
        self.improves = cleaning.noise or cleaning.level
        self._module, self._frame = AudioProcessingModule, AudioFrame
        self._cleaning = cleaning
        self.reset()

    @property
    def double_talk(self) -> bool:
        return self._double_talk.heard

    def reset(self) -> None:
        """A new one learns a room within half a second; an old one unlearns its room in ten."""
        self._filter = AdaptiveFilter()
        self._double_talk = DoubleTalk()
        self._processing: Any = self._module(
            echo_cancellation=self._cleaning.echo,
            noise_suppression=self._cleaning.noise,
            high_pass_filter=True,
            auto_gain_control=self._cleaning.level,
        )

    def process(self, heard: Pcm, played: Pcm, delay_ms: int) -> Pcm:
        if not self.cancels:
            return self._processed(heard)
        split = self._filter.push(heard, played)
        self._double_talk.push(split)
        self._processing.process_reverse_stream(self._made(split.echo))
        self._processing.set_stream_delay_ms(0)  # what the filter predicts is in step
        return self._processed(split.residual)

    def _processed(self, pcm: Pcm) -> Pcm:
        near = self._made(pcm)
        self._processing.process_stream(near)
        cleaned: Pcm = np.frombuffer(near.data, dtype="<i2").astype(np.float32) / _FULL_SCALE
        return cleaned

    def _made(self, pcm: Pcm) -> Any:
        whole = (np.clip(pcm, -1.0, 1.0) * _FULL_SCALE).astype("<i2")
        return self._frame(bytearray(whole.tobytes()), SAMPLE_RATE, 1, FRAME)


def installed() -> bool:
    """Whether WebRTC's processing is there; loads nothing."""
    return find_spec("livekit") is not None and find_spec("livekit.rtc") is not None


def open_canceller(cleaning: Cleaning) -> EchoCanceller:
    """The best canceller there is for this cleaning; never fails."""
    if not (cleaning.echo or cleaning.noise or cleaning.level) or not installed():
        return Passthrough()
    try:
        return WebRtcCanceller(cleaning)
    except (ImportError, OSError, RuntimeError):  # a wheel that does not fit this machine
        return Passthrough()
