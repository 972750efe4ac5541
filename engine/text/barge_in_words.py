"""Words of a listener that steer a conversation: they stop the speaker or show attention.

Invariant: lower-case words and single spaces; no text both halts and nods in one language.
"""

import re
from itertools import chain
from typing import Final

from engine.languages import ENGLISH, SPOKEN
from engine.text import tables

_WORD = re.compile(r"(?:[^\W\d_]|')+")
_PLEASE: Final = re.compile(
    r"^(?:{0}) | (?:{0})$".format("|".join(tables.phrases("barge_in_words", "please")))
)
_REPEATED: Final = re.compile(r"\b(\S+)(?: \1)+\b")  # "wait wait"
_OTHERS: Final = tuple(code for code in SPOKEN if code != ENGLISH)

# In English, which the built-in recogniser listens for.
HALTS, NODS = (tables.phrases("barge_in_words", name) for name in ("halts", "nods"))


def _in_all(name: str) -> frozenset[str]:
    """The phrases of all languages, as `_bare` gives them."""
    others = (tables.phrases("barge_in_words", name, code) for code in _OTHERS)
    phrases = chain(tables.phrases("barge_in_words", name), *others)
    return frozenset(" ".join(_WORD.findall(phrase)) for phrase in phrases)


_HALTS, _NODS, _GOES_ON = map(_in_all, ("halts", "nods", "goes_on"))
# Halts that take effect before the person has finished speaking.
COMMANDS: Final = _in_all("commands")
_SPELLINGS = ("mm", "mmm", "hmm", "mhmm", "ya", "ok")
# Words that show attention; on their own they do not ask for the floor.
NODDING: Final = frozenset((*_SPELLINGS, *(word for nod in _NODS for word in nod.split())))


def words(text: str) -> frozenset[str]:
    """The words of a text, in lower case and without punctuation."""
    return frozenset(_WORD.findall(text.lower()))


def nods(text: str) -> bool:
    """Return whether a text consists of words that only show attention, such as "mm-hm"."""
    return bool(words(text)) and words(text) <= NODDING


def _bare(text: str) -> str:
    """The words of a text, once each where they are repeated, with no "please" around them."""
    said = " ".join(_WORD.findall(text.lower()))
    if said in _HALTS:
        return said
    return _PLEASE.sub("", _REPEATED.sub(r"\1", said))


def lets_go_on(text: str) -> bool:
    """Return whether the whole text asks to continue the interrupted speech."""
    return _bare(text) in _GOES_ON


def halts(text: str) -> bool:
    """Return whether the whole text asks for silence ("wait a moment"), however long it is."""
    return _bare(text) in _HALTS
