"""What is to be done: by the turn rules, and to the ears.

Invariant: an order about a turn carries its number.
"""

from dataclasses import dataclass

from engine.asr.base import Transcript
from engine.audio.echo.canceller import Cleaning
from engine.messages.events import PhaseChanged
from engine.messages.words import Ending
from engine.runtime.turn.facts import ReplayAsked
from engine.settings import RecogniserSettings, WakeSettings


@dataclass(frozen=True)
class OpenUtterance:
    """Hear from `from_sample` on (the ears' count); None = the talk key was pressed: from a
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
class HoldUtterance:
    """The talk key was pressed in the middle of it: it goes on for as long as the key is held."""

    turn: int


@dataclass(frozen=True)
class CloseUtterance:
    """All was said: write it down, unless that was done when a silence ended it. `overlapping`: it
    was said into a reply. `ended_at` is when the person fell silent; None = just now.
    """

    turn: int
    overlapping: bool = False
    ended_at: float | None = None


@dataclass(frozen=True)
class DropUtterance:
    """Forget what was heard. `overlapping`: in a turn that never had the floor."""

    turn: int
    overlapping: bool = False


UtteranceOrder = OpenUtterance | JoinUtterance | HoldUtterance | CloseUtterance | DropUtterance


@dataclass(frozen=True)
class Answer:
    """Reply to what was said, or typed (recogniser 'keyboard')."""

    turn: int
    said: Transcript


@dataclass(frozen=True)
class ReadOut:
    """Speak a text of the assistant's own accord, or one that is to be heard again."""

    turn: int
    text: str
    replayed: ReplayAsked | None = None


@dataclass(frozen=True)
class Pause:
    """Stop the reply of this turn for as long as it takes to find out who speaks."""

    turn: int


@dataclass(frozen=True)
class Resume:
    """Let the reply of this turn go on from where it was paused, at the pace that somebody may have
    wished for.
    """

    turn: int
    wish: str = ""


@dataclass(frozen=True)
class Hold:
    """Stop thinking in this turn and undo its actions: a voice is heard, and its words decide
    whether the turn is begun again.
    """

    turn: int


@dataclass(frozen=True)
class EndTurn:
    """Stop thinking and speaking in this turn, now: it is over. `again`: its
    question is asked in the next turn instead.
    """

    turn: int
    ending: Ending
    again: bool = False


# Decisions of the turn rules. PhaseChanged is shown unchanged.
Order = UtteranceOrder | Answer | ReadOut | Pause | Resume | Hold | EndTurn | PhaseChanged


@dataclass(frozen=True)
class UseDevice:
    """Hear, or speak, through another device; `closed`: through none."""

    name: str  # empty = the system's default
    closed: bool = False


@dataclass(frozen=True)
class Attend:
    """Which voice activity to report: none unless `hands_free`, none while `ignore_microphone`;
    `during_reply` a voice at its first sign, and every sign more. `busy`: somebody has the floor.
    """

    hands_free: bool
    ignore_microphone: bool
    during_reply: bool = False
    busy: bool = False


# A device, what to tell of, what to take out of the microphone from now on, how to recognise
# speech, how to be called, and what becomes of an utterance.
EarOrder = UseDevice | Attend | Cleaning | RecogniserSettings | WakeSettings | UtteranceOrder
