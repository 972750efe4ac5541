"""The state of the turn rules (rules.py), and the decision whether a voice during a reply wants the
floor, by words and time.

Invariant: plain frozen values; pure. The recogniser's words are compared with the assistant's own.
A nod ("mhm", "yes"), a cough, or the echo of the reply is not an interruption.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from engine.messages.words import Phase
from engine.runtime.turn.orders import Answer, Attend, ReadOut, TurnOrder
from engine.text.barge_in_words import COMMANDS, NODDING, halts, words

LONG_MS = 1300  # of speech: nods are shorter
WORDS_MS = 768  # of speech from which words count: a nod is shorter, and is easily misheard
COMMAND_MS = 200  # of speech from which a command is believed
WISH_MS = 3000  # of speech: a wish about the reply's pace or volume is shorter
OWN_WORDS = 14  # last words of the reply that may be in the room


@dataclass(frozen=True)
class Evidence:
    """The facts about a voice so far. `final`: it has ended, and `text` is complete. `wish`: it
    concerns the pace or volume of the reply, or may still do.
    """

    spoken_ms: int = 0
    text: str = ""
    wish: bool = False
    reply_words: frozenset[str] = field(
        default_factory=frozenset
    )  # words that the assistant is speaking
    final: bool = False


@dataclass(frozen=True)
class BargeInCandidate:
    """A voice during a reply that may want the floor, as `turn`. `closed`: it has ended, and the
    words decide.
    """

    turn: int
    closed: bool = False
    evidence: Evidence = field(default_factory=Evidence)


@dataclass(frozen=True)
class Floor:
    """The complete state of the rules.

    `headset` True: the microphone does not hear the loudspeaker, so voice interrupts a reply.
    `cancelling` True: the echo is cancelled, so voice makes a barge-in `candidate`. `last` is the
    highest number of a turn or candidate. `waiting` are timer texts that rang while the floor was
    taken; they are spoken after the turn. `asked` is the order to answer or read out in the current
    turn. `held` is the order of the turn before, while a voice without known words has the floor;
    without words, the order is given again.
    """

    turn: int = 0
    phase: Phase = Phase.IDLE
    hands_free: bool = True
    headset: bool = False
    cancelling: bool = False
    candidate: BargeInCandidate | None = None  # None = no voice during the reply
    last: int = 0
    talk_held: bool = False
    spoken: bool = False  # a silence closed the utterance: further speech belongs to it
    audible_at: float = 0.0  # time when the current reply became audible
    waiting: tuple[str, ...] = ()
    asked: Answer | ReadOut | None = None
    held: Answer | ReadOut | None = None

    def is_candidate(self, turn: int | None) -> bool:
        """Return whether it is still undecided if `turn` wants the floor."""
        return self.candidate is not None and self.candidate.turn == turn


@dataclass(frozen=True)
class Outcome:
    floor: Floor
    orders: tuple[TurnOrder, ...] = ()


def attention(floor: Floor, *, records: bool, previews: bool, rings: bool) -> Attend:
    """Return what the ears listen for, also while a voice `records`, a voice `previews`, or a timer
    `rings`.
    """
    aloud = floor.phase is Phase.SPEAKING and not floor.headset
    return Attend(
        hands_free=floor.hands_free and not records,
        ignore_microphone=(aloud and not floor.cancelling) or previews,
        during_reply=aloud and floor.cancelling,
        busy=floor.phase is not Phase.IDLE or rings,
    )


def wants_floor(evidence: Evidence) -> bool:
    """Return whether to stop the reply; called while the voice goes on, and for its transcript."""
    said = words(evidence.text) - evidence.reply_words
    if said and evidence.wish and (evidence.final or evidence.spoken_ms < WISH_MS):
        return False  # applied; it does not end the reply
    if said and evidence.final and halts(evidence.text):
        return True
    if evidence.spoken_ms >= LONG_MS:
        return True
    if evidence.spoken_ms >= WORDS_MS:
        return bool(said - NODDING)
    return evidence.spoken_ms >= COMMAND_MS and bool(said & COMMANDS)


def reply_words(spoken: Iterable[str]) -> frozenset[str]:
    """Return the words of the reply that may be audible in the room."""
    return words(" ".join(list(spoken)[-OWN_WORDS:]))
