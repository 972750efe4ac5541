"""What all loudspeakers that play a tape have in common, be they devices or files."""

from abc import ABC, abstractmethod

from engine.audio.base import Played
from engine.audio.devices.tape import Tape


class TapedLoudspeaker(ABC):
    """The part of Loudspeaker that its tape answers."""

    _tape: Tape

    @abstractmethod
    def _look(self) -> None:
        """Called before every look at the tape: lets the player of the tape do its work."""

    @property
    def writable(self) -> int:
        self._look()
        return self._tape.writable

    @property
    def samples_written(self) -> int:
        return self._tape.samples_written

    @property
    def samples_played(self) -> int:
        self._look()
        return self._tape.samples_played

    @property
    def underruns(self) -> int:
        self._look()
        return self._tape.underruns

    @property
    def gain(self) -> float:
        return self._tape.gain

    @gain.setter
    def gain(self, gain: float) -> None:
        self._look()
        self._tape.set_gain(gain)

    def take_played(self) -> Played:
        self._look()
        return self._tape.take_played()

    def expect_more(self, flag: bool) -> None:
        self._look()
        self._tape.expect_more(flag)

    def take_back(self, samples: int) -> int:
        self._look()
        return self._tape.take_back(samples)

    def cut(self, *, fade_ms: int = 10) -> None:
        self._look()
        self._tape.cut(fade_ms)
