"""What the runtime needs of a microphone and a loudspeaker, be they PortAudio's, files or fakes.

Invariant: samples are mono float32 at the device's own rate. One thread reads a microphone, one
thread writes a loudspeaker; the device's callback only copies and counts. `samples_played` counts
real audio only: silence given to the device in an underrun or between utterances is not "heard".
"""

from dataclasses import dataclass
from typing import Protocol

from engine.audio.pcm import Pcm as Pcm

HISTORY_S = 0.25  # how long a loudspeaker remembers what it played


@dataclass(frozen=True)
class Played:
    """What left a loudspeaker's ring since somebody last asked, as loud as it was played.

    `more` says whether the ring still holds samples: without it, silence follows `pcm`.
    """

    pcm: Pcm
    sample_rate: int  # Hz
    more: bool


class Microphone(Protocol):
    """A source of samples, running from construction to close()."""

    @property
    def name(self) -> str: ...

    @property
    def sample_rate(self) -> int: ...

    @property
    def joins_midway(self) -> bool:
        """Whether somebody may have been speaking already when it was opened."""
        ...

    def read(self) -> Pcm:
        """All samples that arrived since the last read; may be none. DeviceError once the device is
        gone.
        """
        ...

    def close(self) -> None: ...


class Loudspeaker(Protocol):
    """A sink of samples, running from construction to close(); plays silence while nothing is
    written.
    """

    @property
    def name(self) -> str: ...

    @property
    def sample_rate(self) -> int: ...

    @property
    def samples_written(self) -> int:
        """Samples taken by write() since construction, less those that were cut: the position of
        the next one to be written. Whatever is written now is heard when samples_played gets here.
        """
        ...

    @property
    def samples_played(self) -> int:
        """Real audio samples that left the ring since construction (cut ones are never counted)."""
        ...

    @property
    def underruns(self) -> int:
        """How often the ring ran empty between expect_more(True) and expect_more(False)."""
        ...

    @property
    def latency_s(self) -> float:
        """Time from leaving the ring to the air, as the device reports it."""
        ...

    gain: float
    """0..1, ramped over 10 ms when changed."""

    def write(self, pcm: Pcm) -> int:
        """Queue samples; returns how many were taken. DeviceError once the device is gone: an
        empty write asks just that, while nothing is left to be written.
        """
        ...

    def take_played(self) -> Played:
        """The samples that left the ring since the last call, gain and fades included; for one
        reader, the echo canceller. Of more than HISTORY_S the oldest are lost.
        """
        ...

    def expect_more(self, flag: bool) -> None:
        """Say whether running empty now is an underrun (mid-utterance) or just the end."""
        ...

    def take_back(self, samples: int) -> int:
        """Take the last `samples` back without a fade, because others follow at once; returns how
        many: not those that the device is about to play, nor any before a silence.
        """
        ...

    def cut(self, *, fade_ms: int = 10) -> None:
        """Fade out from the sample being played now and drop the rest of the ring."""
        ...

    def close(self) -> None: ...
