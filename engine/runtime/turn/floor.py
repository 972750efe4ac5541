"""Who has the floor, as the turn rules (rules.py) remember it, and whether a voice heard during a
reply is somebody who wants it: by words and time.

Invariant: plain frozen values; pure. The words judged are those of the recogniser, the assistant's
own are known. A nod ("mhm", "yes"), a cough, or the reply itself coming back through the room is no
interruption.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from engine.messages.words import Phase
from engine.runtime.turn.orders import Answer, Order, ReadOut
from engine.text.interaction import COMMANDS, NODDING, halts, words

LONG_MS = 1300  # of speech: nobody nods that long
WORDS_MS = 768  # of speech from which words count: a nod is shorter, and is misheard as anything
COMMAND_MS = 200  # of speech from which a command is believed
WISH_MS = 3000  # of speech: no wish about the pace of the reply is longer
OWN_WORDS = 14  # words of the reply that may still sound in the room, or sound already


@dataclass(frozen=True)
class Evidence:
    """What is known of a voice so far; `final`: it is over, and the text is all of it. `wish`: it
    is about the pace of the reply, or may still become that.
    """

    spoken_ms: int = 0
    text: str = ""
    wish: bool = False
    own: frozenset[str] = field(default_factory=frozenset)  # words the assistant is just saying
    final: bool = False


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
    `asked` is the order to answer or to read out in the turn that has the floor.
    `held` is the order of the turn before, while a voice has the floor whose words are not known
    yet; if there are none, the order is given again.
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
    asked: Answer | ReadOut | None = None
    held: Answer | ReadOut | None = None

    def is_candidate(self, turn: int | None) -> bool:
        """Whether it is not known yet that `turn` wants the floor."""
        return self.candidate is not None and self.candidate.turn == turn


@dataclass(frozen=True)
class Outcome:
    floor: Floor
    orders: tuple[Order, ...] = ()


def wants_floor(evidence: Evidence) -> bool:
    """Whether to stop the reply; asked while the voice goes on, and of its final transcript."""
    said = words(evidence.text) - evidence.own
    if said and evidence.wish and (evidence.final or evidence.spoken_ms < WISH_MS):
        return False  # granted, it ends no reply
    if said and evidence.final and halts(evidence.text):
        return True
    if evidence.spoken_ms >= LONG_MS:
        return True
    if evidence.spoken_ms >= WORDS_MS:
        return bool(said - NODDING)
    return evidence.spoken_ms >= COMMAND_MS and bool(said & COMMANDS)


def own_words(spoken: Iterable[str]) -> frozenset[str]:
    """The words of the reply that may be heard in the room just now."""
    return words(" ".join(list(spoken)[-OWN_WORDS:]))
