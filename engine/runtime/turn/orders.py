"""Orders of the turn rules, and orders to the ears.

Invariant: an order about a turn carries its number.
"""

from dataclasses import dataclass

from engine.asr.base import Transcript
from engine.audio.echo.canceller import Cleaning
from engine.messages.events import PhaseChanged
from engine.messages.words import Ending
from engine.runtime.turn.facts import ReadingAsked, ReplayAsked
from engine.settings import RecogniserSettings, WakeSettings


@dataclass(frozen=True)
class OpenUtterance:
    """Listen from `from_sample` (the ears' count). None = the talk key was pressed: from a moment
    ago, while it is held.
    """

    turn: int
    from_sample: int | None


@dataclass(frozen=True)
class JoinUtterance:
    """Further speech belongs to `turn`, and so do all words of the turn `before`."""

    before: int
    turn: int


@dataclass(frozen=True)
class HoldUtterance:
    """The talk key was pressed during the utterance: it continues while the key is held."""

    turn: int


@dataclass(frozen=True)
class CloseUtterance:
    """The utterance is complete: transcribe it, unless that was done when a silence ended it.
    `overlapping`: it was spoken into a reply. `ended_at`: end of the speech; None = just now.
    """

    turn: int
    overlapping: bool = False
    ended_at: float | None = None


@dataclass(frozen=True)
class DropUtterance:
    """Discard the utterance. `overlapping`: its turn never had the floor."""

    turn: int
    overlapping: bool = False


UtteranceOrder = OpenUtterance | JoinUtterance | HoldUtterance | CloseUtterance | DropUtterance


@dataclass(frozen=True)
class Answer:
    """Reply to spoken or typed words (recogniser 'keyboard')."""

    turn: int
    said: Transcript


@dataclass(frozen=True)
class ReadOut:
    """Speak a text of the assistant itself, or replay one, or read the document."""

    turn: int
    text: str
    replayed: ReplayAsked | ReadingAsked | None = None


@dataclass(frozen=True)
class Pause:
    """Pause the reply of this turn until it is known who speaks."""

    turn: int


@dataclass(frozen=True)
class Resume:
    """Continue the paused reply of this turn, at the rate of a wish if there was one."""

    turn: int
    wish: str = ""


@dataclass(frozen=True)
class Hold:
    """Stop the language model in this turn and undo its actions: a voice is heard, and its words
    decide whether the turn begins again.
    """

    turn: int


@dataclass(frozen=True)
class EndTurn:
    """End the turn: stop its language model and speech now. `again`: its question is asked in the
    next turn instead.
    """

    turn: int
    ending: Ending
    again: bool = False


# Decisions of the turn rules. PhaseChanged is shown unchanged.
OtherOrder = UtteranceOrder | ReadOut | Pause | Resume | Hold | EndTurn | PhaseChanged
TurnOrder = OtherOrder | Answer


@dataclass(frozen=True)
class UseDevice:
    """Use another device for listening or speaking; `closed`: none."""

    name: str  # empty = the system's default
    closed: bool = False


@dataclass(frozen=True)
class Attend:
    """The voice activity to report: none unless `hands_free`, none while `ignore_microphone`;
    `during_reply` a voice at its first sign, and each further sign. `busy`: the floor is taken.
    """

    hands_free: bool
    ignore_microphone: bool
    during_reply: bool = False
    busy: bool = False


# Devices, the activity to report, the processing of samples, recognition, the wake phrase, and the
# fate of an utterance.
EarOrder = UseDevice | Attend | Cleaning | RecogniserSettings | WakeSettings | UtteranceOrder
