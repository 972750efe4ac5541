"""Which words are read before which are spoken (SpeakStream, III-C, scheme 1).

    T_i = words n (i - 1) + 1 to min(t, n (i - 1) + m)      read
    A_i = speech of words n (i - 1) + 1 to min(t, n i)      spoken

Invariant: a window depends on m, n and where the text ends, never on how much of it has come.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Window:
    """Words by number from 0, ends not included: `first` to `read_end` are read, `first` to
    `spoken_end` spoken.
    """

    first: int
    read_end: int
    spoken_end: int


def window(first: int, size: int, hop: int, known: int, *, ended: bool) -> Window | None:
    """The window at word `first` of a text of which `known` words have come. None = more words are
    needed or, when the text has ended, nothing is left to say.
    """
    if first + size > known and not (ended and first < known):
        return None
    return Window(first, min(known, first + size), min(known, first + hop))


def windows(words: int, size: int, hop: int) -> list[Window]:
    """All windows of a whole text."""
    parts = []
    first = 0
    while (each := window(first, size, hop, words, ended=True)) is not None:
        parts.append(each)
        first = each.spoken_end
    return parts
