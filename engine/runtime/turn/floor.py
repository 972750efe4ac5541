"""Who has the floor, as the turn rules (rules.py) remember it.

Invariant: plain frozen values.
"""

from dataclasses import dataclass, field

from engine.messages.words import Phase
from engine.runtime.turn.interruption import Evidence
from engine.runtime.turn.orders import Order


@dataclass(frozen=True)
class BargeInCandidate:
    """Voice during a reply: perhaps the person wants the floor, as `turn`. `closed`: they have
    fallen silent, and the words decide.
    """

    turn: int
    closed: bool = False
    evidence: Evidence = field(default_factory=Evidence)


@dataclass(frozen=True)
class Floor:
    """Everything the rules remember.

    `headset` True: the microphone does not hear the loudspeaker, so voice interrupts a reply.
    `cancelling` True: the loudspeaker is taken out of the microphone, so voice makes a barge-in
    `candidate`.
    `last` is the highest number that a turn or a candidate had.
    `waiting` are timer texts that rang while someone had the floor; they are spoken after the turn.
    """

    turn: int = 0
    phase: Phase = Phase.IDLE
    hands_free: bool = True
    headset: bool = False
    cancelling: bool = False
    candidate: BargeInCandidate | None = None  # None = nobody was heard during the reply
    last: int = 0
    talk_held: bool = False
    spoken: bool = False  # a silence closed the utterance: what the person adds belongs to it
    audible_at: float = 0.0  # when the reply that is being spoken was first heard
    waiting: tuple[str, ...] = ()

    def is_candidate(self, turn: int | None) -> bool:
        """Whether it is not known yet that `turn` wants the floor."""
        return self.candidate is not None and self.candidate.turn == turn


@dataclass(frozen=True)
class Outcome:
    floor: Floor
    orders: tuple[Order, ...] = ()
