"""Whether a voice heard during a reply is somebody who wants the floor: rules on words and time.

Invariant: pure; the words judged are those of the recogniser, the assistant's own are known. A nod
("mhm", "yes"), a cough, or the reply itself coming back through the room is no interruption.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from engine.asr.sphinx import asides
from engine.llm.skills.pace_wishes import may_become_pace_wish, pace_wish

_WORD = re.compile(r"[a-z']+")
# Words of those who show that they listen; alone, they do not ask for the floor.
_SPELLINGS = ("mm", "mmm", "hmm", "mhmm", "ya", "ok")
NODS = frozenset((*_SPELLINGS, *(word for nod in asides.NODS for word in nod.split())))
# What is said to stop somebody, and is believed while it is being said.
COMMANDS = frozenset(("stop", "wait", "cancel", "quiet", "pause"))
LONG_MS = 1300  # of speech: nobody nods that long
WORDS_MS = 768  # of speech from which words count: a nod is shorter, and is misheard as anything
COMMAND_MS = 200  # of speech from which a command is believed
WISH_MS = 3000  # of speech: no wish about the pace of the reply is longer
OWN_WORDS = 14  # words of the reply that may still sound in the room, or sound already


@dataclass(frozen=True)
class Evidence:
    """What is known of a voice so far; `final`: it is over, and the text is all of it."""

    spoken_ms: int = 0
    text: str = ""
    own: frozenset[str] = field(default_factory=frozenset)  # words the assistant is just saying
    final: bool = False


def wants_floor(evidence: Evidence) -> bool:
    """Whether to stop the reply; asked while the voice goes on, and of its final transcript."""
    said = words(evidence.text) - evidence.own
    if said and _is_pace_wish(evidence):
        return False
    if said and evidence.final and halts(evidence.text):
        return True
    if evidence.spoken_ms >= LONG_MS:
        return True
    if evidence.spoken_ms >= WORDS_MS:
        return bool(said - NODS)
    return evidence.spoken_ms >= COMMAND_MS and bool(said & COMMANDS)


def halts(text: str) -> bool:
    """Whether all of it asks for silence ("wait a moment"); too short to be told from a nod by its
    length.
    """
    return " ".join(_WORD.findall(text.lower())) in asides.HALTS


def _is_pace_wish(evidence: Evidence) -> bool:
    """Whether it is a wish about the pace, or may still become one: granted, it ends no reply."""
    if evidence.final:
        return pace_wish(evidence.text) is not None
    return evidence.spoken_ms < WISH_MS and may_become_pace_wish(evidence.text)


def words(text: str) -> frozenset[str]:
    """The words of a text, in lower case and without punctuation."""
    return frozenset(_WORD.findall(text.lower()))


def own_words(spoken: Iterable[str]) -> frozenset[str]:
    """The words of the reply that may be heard in the room just now."""
    return words(" ".join(list(spoken)[-OWN_WORDS:]))
