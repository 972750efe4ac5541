"""What the ears are to do. Of an utterance the rules decide it, the ears do their share and hand
the same order on to the recogniser.
"""

from dataclasses import dataclass

from engine.audio.echo.canceller import Cleaning


@dataclass(frozen=True)
class OpenUtterance:
    """Hear from `from_sample` on (the listener's count); None = the talk key was pressed: from a
    moment ago, for as long as it is held.
    """

    turn: int
    from_sample: int | None


@dataclass(frozen=True)
class JoinUtterance:
    """What comes now belongs to `turn`, and so does all that was heard in the turn `before`."""

    before: int
    turn: int


@dataclass(frozen=True)
class CloseUtterance:
    """All was said: write it down. `aside`: it was said into a reply."""

    turn: int
    aside: bool = False


@dataclass(frozen=True)
class DropUtterance:
    turn: int


UtteranceOrder = OpenUtterance | JoinUtterance | CloseUtterance | DropUtterance


@dataclass(frozen=True)
class UseMicrophone:
    name: str  # empty = the system's default


@dataclass(frozen=True)
class Attend:
    """Which voice activity to tell of: none unless `hands_free`, none while `deaf`; while `wary`
    (of a voice during a reply) at its first sign, and with every sign more.
    """

    hands_free: bool
    deaf: bool
    wary: bool = False


@dataclass(frozen=True)
class CleanMicrophone:
    cleaning: Cleaning  # what to take out of the microphone from now on


@dataclass(frozen=True)
class SetEndSilence:
    """The silence that ends an utterance whatever was said."""

    milliseconds: int


@dataclass(frozen=True)
class AwaitSilence:
    """The silence that ends the utterance if the `pause` (see SpeechPaused) goes on so long."""

    pause: int
    milliseconds: int


EarOrder = UseMicrophone | Attend | CleanMicrophone | SetEndSilence | AwaitSilence
