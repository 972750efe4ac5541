"""Whether a voice heard during a reply is somebody who wants the floor: rules on words and time.

Invariant: pure; the words judged are those of the recogniser, the assistant's own are known. A nod
("mhm", "yes"), a cough, or the reply itself coming back through the room is no interruption.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

# What people say to show that they listen; alone, it does not ask for the floor.
_MURMURS = ("mhm", "mm", "mmm", "hm", "hmm", "mhmm", "uh", "uhuh", "huh", "um", "ah", "oh", "eh")
_YESES = ("yeah", "yes", "yep", "yup", "ya", "okay", "ok", "right", "sure", "well", "so", "see")
_PRAISE = ("aha", "really", "wow", "good", "great", "nice", "fine", "cool", "exactly")
NODS = frozenset((*_MURMURS, *_YESES, *_PRAISE))
LONG_MS = 1100  # of voice: nobody nods that long
WORDS_MS = 300  # of voice before a partial transcript is believed: its first words are guesses
OWN_WORDS = 14  # words of the reply that may still sound in the room, or sound already
_WORD = re.compile(r"[a-z']+")


@dataclass(frozen=True)
class Evidence:
    """What is known of a voice so far."""

    voiced_ms: int = 0
    text: str = ""
    own: frozenset[str] = field(default_factory=frozenset)  # words the assistant is just saying

    def heard(self, voiced_ms: int) -> "Evidence":
        return replace(self, voiced_ms=voiced_ms)

    def understood(self, text: str) -> "Evidence":
        return replace(self, text=text)


def wants_floor(evidence: Evidence) -> bool:
    """While the voice goes on: whether to stop the reply now."""
    if evidence.voiced_ms >= LONG_MS:
        return True
    return evidence.voiced_ms >= WORDS_MS and asks(evidence.text, evidence.own)


def asks(text: str, own: frozenset[str]) -> bool:
    """Whether a transcript holds a word that is neither a nod nor the assistant's own."""
    return bool(words(text) - NODS - own)


def words(text: str) -> frozenset[str]:
    """The words of a text, in lower case and without punctuation."""
    return frozenset(_WORD.findall(text.lower()))


def own_words(spoken: Iterable[str]) -> frozenset[str]:
    """The words of the reply that may be heard in the room just now."""
    return words(" ".join(list(spoken)[-OWN_WORDS:]))
