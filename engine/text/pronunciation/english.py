"""How an English word is given to espeak between its neighbours.

Invariant: it depends on the word, on a few words before it and on the next one, never on when they
came.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from engine.text.pronunciation import heteronyms, initialisms
from engine.text.pronunciation.scripts import readable

WORDS_BEFORE: Final = 8
"""So many words before it are enough to know how a word is said."""
_MARKS: Final = ".,?!:;"


@dataclass(frozen=True)
class Spelling:
    """`text` is what espeak gets among the neighbours, "" for what no English voice can say. Where
    `alone` is not empty, the word sounds like the last word of that.
    """

    text: str
    alone: str = ""


def spelling(before: Sequence[str], word: str, after: str | None) -> Spelling:
    """The spelling of a word without its punctuation. `before`: the words before it, with theirs;
    `after` "": a mark or nothing follows, None: what follows is not known.
    """
    last = before[-1] if before else ""
    text = initialisms.respelled(readable(word), last.rstrip(_MARKS), (after or "").rstrip(_MARKS))
    sound = heteronyms.sounds_like(before, text, after)
    if sound and " " not in sound:
        return Spelling(sound)
    return Spelling(text, sound)


def roughly(word: str) -> str:
    """A word's spelling as a neighbour of another one."""
    return initialisms.respelled(readable(word))


def depends(word: str) -> bool:
    """Whether the words beside it may decide how a word is said."""
    return initialisms.is_either(word) or heteronyms.is_heteronym(word)
