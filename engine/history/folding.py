"""Text for search: without accents and capitals, and the words of the search line.

Invariant: fold() keeps the number of characters, so matches can be shown in the original text.
"""

import re
import unicodedata
from collections.abc import Iterable

MOST_TERMS = 16  # a sentence; further words are ignored

_WORD = re.compile(r"[^\W_]+")  # the same words as FTS5's unicode61

EXCERPT = 90  # characters around a match


class _FoldTable(dict[int, str]):
    """Folded text by code point, filled when a character is first used: normalising each one again
    takes ten times as long.
    """

    def __missing__(self, code: int) -> str:
        self[code] = unicodedata.normalize("NFD", chr(code))[0].lower()[0]
        return self[code]


_FOLDS = _FoldTable()


def fold(text: str) -> str:
    """Return the text in its form for comparison, character by character."""
    return text.translate(_FOLDS)


def terms(search: str) -> tuple[str, ...]:
    """Return the words of a search; marks between them are ignored."""
    return tuple(_WORD.findall(search)[:MOST_TERMS])


def excerpt(texts: Iterable[str], looked_for: tuple[str, ...]) -> str:
    """Return a line of the first text with a word that starts like one of these; empty if none."""
    if not looked_for:
        return ""
    pattern = re.compile(
        r"(?<![^\W_])(" + "|".join(re.escape(fold(term)) for term in looked_for) + ")"
    )
    for text in texts:
        found = pattern.search(fold(text))
        if found:
            return _excerpt_at(text, found.start())
    return ""


def shorten(text: str, most: int) -> str:
    """Return the beginning of a text on one line, at most `most` characters."""
    line = " ".join(text[: 4 * most].split())
    return line if len(line) <= most else line[: most - 1].rstrip() + "…"


def _excerpt_at(text: str, at: int) -> str:
    begin = max(0, at - EXCERPT // 3)
    begin = text.find(" ", begin, at) + 1 or begin if begin else 0
    line = shorten(text[begin : begin + EXCERPT + 1], EXCERPT)
    return ("…" if begin else "") + line
