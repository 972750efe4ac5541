"""Where the sentences of a paragraph begin and end."""

import re
from typing import Final

_END: Final = re.compile(r".*[.!?…。！？][\"'”’»)\]]*")
# Words with a full stop that do not end a sentence: titles, references, single letters, dates.
_ABBREVIATION: Final = re.compile(
    r"[(\[\"'“‘«]*(?:(?:[^\W\d_]\.)+|\d{1,2}\.|mrs?\.|ms\.|dr\.|prof\.|st\.|sr\.|sra\.|jr\.|vs\.|cf\.|al\.|etc\.|"
    r"no\.|nr\.|fig\.|figs\.|eq\.|eqs\.|sec\.|ch\.|p\.|pp\.|vol\.|ed\.|eds\.|approx\.|bzw\.|ca\.|art\.|"
    r"dott\.|sig\.|mme\.|mlle\.|gen\.|col\.|capt\.|lt\.|rev\.|hon\.|inc\.|ltd\.|co\.|dept\.)",
    re.IGNORECASE,
)
_START: Final = re.compile(r"[\W_]*[A-ZÀ-ÖØ-Þ\d]|[\W_]*[^\W\d_a-zß-öø-ÿ]|[^\w\s]+$")


def sentences(text: str) -> tuple[tuple[int, int], ...]:
    """Return the sentences of a text, each as (first word, word after the last), counted in
    text.split().
    """
    words = text.split()
    ranges = []
    start = 0
    for end, word in enumerate(words, 1):
        last = end == len(words)
        if last or (_ends(word) and _START.match(words[end])):
            ranges.append((start, end))
            start = end
    return tuple(ranges)


def _ends(word: str) -> bool:
    if not _END.fullmatch(word):
        return False
    return not _ABBREVIATION.fullmatch(word.rstrip("\"'”’»)]"))
