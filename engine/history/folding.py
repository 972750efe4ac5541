"""What a search compares: text without accents and capitals, and the words typed into the line.

Invariant: folded() keeps the number of characters, so that what is found can be shown.
"""

import re
import unicodedata
from collections.abc import Iterable

MOST_TERMS = 16  # a sentence; what is typed beyond that is not looked for

_WORD = re.compile(r"[^\W_]+")  # what FTS5's unicode61 takes for a word too

EXCERPT = 90  # characters around what was found


class _FoldTable(dict[int, str]):
    """Folded text by code point. Filled on first use of a character, because normalising each one
    again takes ten times as long.
    """

    def __missing__(self, code: int) -> str:
        self[code] = unicodedata.normalize("NFD", chr(code))[0].lower()[0]
        return self[code]


_FOLDS = _FoldTable()


def folded(text: str) -> str:
    """The text as it is compared, character by character."""
    return text.translate(_FOLDS)


def terms(search: str) -> tuple[str, ...]:
    """The words of what a person typed; marks between them mean nothing."""
    return tuple(_WORD.findall(search)[:MOST_TERMS])


def excerpt(texts: Iterable[str], looked_for: tuple[str, ...]) -> str:
    """A line of the first text one of the words begins in; empty when there is none."""
    if not looked_for:
        return ""
    pattern = re.compile(
        r"(?<![^\W_])(" + "|".join(re.escape(folded(term)) for term in looked_for) + ")"
    )
    for text in texts:
        found = pattern.search(folded(text))
        if found:
            return _around(text, found.start())
    return ""


def shortened(text: str, most: int) -> str:
    """The beginning of a text on one line, of at most `most` characters."""
    line = " ".join(text[: 4 * most].split())
    return line if len(line) <= most else line[: most - 1].rstrip() + "…"


def _around(text: str, at: int) -> str:
    begin = max(0, at - EXCERPT // 3)
    begin = text.find(" ", begin, at) + 1 or begin if begin else 0
    line = shortened(text[begin : begin + EXCERPT + 1], EXCERPT)
    return ("…" if begin else "") + line
