"""Whether a voice heard during a reply is somebody who wants the floor: rules on words and time.

Invariant: pure; the words judged are those of the recogniser, the assistant's own are known. A nod
("mhm", "yes"), a cough, or the reply itself coming back through the room is no interruption.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

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
