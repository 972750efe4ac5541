"""The interfaces of a microphone and a loudspeaker, for PortAudio, files and fakes, and the
substitute for a missing loudspeaker.

Invariant: samples are mono float32 at the device's own rate. One thread reads a microphone, one
thread writes a loudspeaker; the device's callback only copies and counts. `samples_played` counts
real audio only, not the silence of an underrun or between utterances.
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from engine.audio.pcm import Pcm as Pcm

HISTORY_S = 0.25  # length of played samples that a loudspeaker keeps for the echo canceller

SAMPLE_RATE = 48_000  # Hz


@dataclass(frozen=True)
class Played:
    """Samples that left a loudspeaker's ring since the last request, at the level they were played.

    `more` is true if the ring still holds samples; otherwise silence follows `pcm`.
    """

    pcm: Pcm
    sample_rate: int  # Hz
    more: bool


class Microphone(Protocol):
    """A source of samples that runs from construction to close()."""

    @property
    def name(self) -> str: ...

    @property
    def sample_rate(self) -> int: ...

    @property
    def joins_midway(self) -> bool:
        """Return whether the user may have been speaking already when it was opened."""
        ...

    def read(self) -> Pcm:
        """Return all samples since the last read, maybe none. DeviceError if the device is gone."""
        ...

    def close(self) -> None: ...


class Loudspeaker(Protocol):
    """A sink of samples that runs from construction to close(). Without input it plays silence."""

    @property
    def name(self) -> str: ...

    @property
    def sample_rate(self) -> int: ...

    @property
    def samples_written(self) -> int:
        """Samples accepted by write() since construction, without those that were cut: the position
        of the next sample. A sample written now is heard when samples_played reaches this number.
        """
        ...

    @property
    def samples_played(self) -> int:
        """Real audio samples that left the ring since construction, without those that were cut."""
        ...

    @property
    def underruns(self) -> int:
        """How often the ring ran empty between expect_more(True) and expect_more(False)."""
        ...

    @property
    def latency_s(self) -> float:
        """Time from leaving the ring to the air, as reported by the device."""
        ...

    gain: float
    """0..1; a change is ramped over 10 ms."""

    def write(self, pcm: Pcm) -> int:
        """Queue samples and return how many were accepted. DeviceError if the device is gone; write
        nothing to check for that.
        """
        ...

    def take_played(self) -> Played:
        """Return the samples that left the ring since the last call, with gain and fades. For one
        reader, the echo canceller. At most the last HISTORY_S are kept.
        """
        ...

    def expect_more(self, flag: bool) -> None:
        """Declare whether an empty ring is an underrun (inside an utterance) or simply the end."""
        ...

    def take_back(self, samples: int) -> int:
        """Remove the last `samples` without a fade, because others follow at once. Return how many
        were removed: samples about to be played, or before a silence, stay.
        """
        ...

    def cut(self, *, fade_ms: int = 10) -> None:
        """Fade out from the sample that is being played and drop the rest of the ring."""
        ...

    def close(self) -> None: ...


class SilentLoudspeaker:
    """See Loudspeaker."""

    name = "none (silent)"
    sample_rate = SAMPLE_RATE
    underruns = 0
    latency_s = 0.0

    def __init__(self) -> None:
        self.gain = 1.0
        self.samples_written = 0

    @property
    def samples_played(self) -> int:
        return self.samples_written

    def write(self, pcm: Pcm) -> int:
        self.samples_written += len(pcm)
        return len(pcm)

    def take_played(self) -> Played:
        """Return no samples: a microphone could hear nothing."""
        return Played(np.zeros(0, np.float32), SAMPLE_RATE, more=False)

    def expect_more(self, flag: bool) -> None:
        """Silence cannot run dry."""

    def take_back(self, samples: int) -> int:
        """Remove nothing, as all samples were played at once."""
        return 0

    def cut(self, *, fade_ms: int = 10) -> None:
        """Nothing is left to be played."""

    def close(self) -> None:
        """Nothing to release."""
