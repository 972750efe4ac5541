"""The words the turn rules are written in: what can happen, what must be done, who has the floor.

Invariant: plain frozen values; the rules that join them are in turns.py.
"""

from dataclasses import dataclass

from engine.messages import Ending, Phase
from engine.runtime.turn.orders import UtteranceOrder

# ------------------------------------------------------------------ what can happen


@dataclass(frozen=True)
class TalkPressed:
    pass


@dataclass(frozen=True)
class TalkReleased:
    pass


@dataclass(frozen=True)
class VoiceBegan:
    """Voice activity; `sample` is where on the listener's count. `unmoved`: too soon after the
    first sound of a reply to be an answer to it.
    """

    sample: int
    unmoved: bool = False


@dataclass(frozen=True)
class VoiceStopped:
    pass


@dataclass(frozen=True)
class VoiceConfirmed:
    """What was doubted in `turn` is a person who wants the floor."""

    turn: int


@dataclass(frozen=True)
class TextSent:
    text: str


@dataclass(frozen=True)
class Understood:
    """The transcript of the turn is final; empty text means that no words were found."""

    turn: int
    text: str


@dataclass(frozen=True)
class ReplyAudible:
    turn: int


@dataclass(frozen=True)
class ReplyOver:
    """The reply of the turn has ended, and nobody here has ended it."""

    turn: int
    ending: Ending


@dataclass(frozen=True)
class StopAsked:
    ending: Ending = Ending.INTERRUPTED_BY_STOP


@dataclass(frozen=True)
class TurnBroke:
    """Nothing more comes of this turn: what it waits for failed, or stands still."""

    turn: int
    ending: Ending = Ending.FAILED


@dataclass(frozen=True)
class TimerRang:
    text: str


Input = (
    TalkPressed
    | TalkReleased
    | VoiceBegan
    | VoiceStopped
    | VoiceConfirmed
    | TextSent
    | Understood
    | ReplyAudible
    | ReplyOver
    | StopAsked
    | TurnBroke
    | TimerRang
)

# ------------------------------------------------------------------ what must be done


@dataclass(frozen=True)
class Think:
    turn: int
    said: str


@dataclass(frozen=True)
class Recite:
    """Speak a text of the assistant's own accord."""

    turn: int
    text: str


@dataclass(frozen=True)
class Pause:
    """Stop the reply of this turn for as long as it takes to find out who speaks."""

    turn: int


@dataclass(frozen=True)
class Resume:
    """Let the reply of this turn go on from where it was paused."""

    turn: int


@dataclass(frozen=True)
class DropDoubt:
    """Forget what was heard for a turn that never had the floor."""

    turn: int


@dataclass(frozen=True)
class EndTurn:
    """Stop thinking and speaking in this turn, now: it is over."""

    turn: int
    ending: Ending


@dataclass(frozen=True)
class ShowPhase:
    turn: int
    phase: Phase


Effect = UtteranceOrder | Think | Recite | Pause | Resume | DropDoubt | EndTurn | ShowPhase


@dataclass(frozen=True)
class Doubt:
    """Voice during a reply: perhaps the person wants the floor, as `turn`. `closed`: they have
    fallen silent, and the words decide.
    """

    turn: int
    closed: bool = False


@dataclass(frozen=True)
class Floor:
    """Everything the rules remember.

    `headset` True: the microphone does not hear the loudspeaker, so voice interrupts a reply.
    `cancelling` True: the loudspeaker is taken out of the microphone, so voice makes a `doubt`.
    `last` is the highest number that a turn or a doubt had.
    `waiting` are timer texts that rang while someone had the floor; they are spoken after the turn.
    """

    turn: int = 0
    phase: Phase = Phase.IDLE
    hands_free: bool = True
    headset: bool = False
    cancelling: bool = False
    doubt: Doubt | None = None  # None = nobody was heard during the reply
    last: int = 0
    talk_held: bool = False
    spoken: bool = False  # a silence closed the utterance: what the person adds belongs to it
    waiting: tuple[str, ...] = ()


@dataclass(frozen=True)
class Outcome:
    floor: Floor
    effects: tuple[Effect, ...] = ()
