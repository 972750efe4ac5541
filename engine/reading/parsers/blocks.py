"""The result of every parser: an outline, and the paragraphs of one chapter in sentences."""

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

MOST_CHAPTERS: Final = 5_000
MOST_TITLE: Final = 300  # characters
MOST_CHARACTERS: Final = 2_000_000  # of a chapter, some 35 hours
MOST_WORD: Final = 400  # characters without a space
MOST_PARAGRAPH: Final = 3_000  # characters
_SPACES = re.compile(r"[\s\u200b\ufeff]+")
_SENTENCE_END = re.compile(r"[.!?…][\"'”’)\]]*\s")
_END: Final = re.compile(r".*[.!?…。！？][\"'”’»)\]]*")
# Words with a full stop that do not end a sentence: titles, references, single letters, dates.
_ABBREVIATION: Final = re.compile(
    r"[(\[\"'“‘«]*(?:(?:[^\W\d_]\.)+|\d{1,2}\.|mrs?\.|ms\.|dr\.|prof\.|st\.|sr\.|sra\.|jr\.|vs\.|cf\.|al\.|etc\.|"
    r"no\.|nr\.|fig\.|figs\.|eq\.|eqs\.|sec\.|ch\.|p\.|pp\.|vol\.|ed\.|eds\.|approx\.|bzw\.|ca\.|art\.|"
    r"dott\.|sig\.|mme\.|mlle\.|gen\.|col\.|capt\.|lt\.|rev\.|hon\.|inc\.|ltd\.|co\.|dept\.)",
    re.IGNORECASE,
)
_START: Final = re.compile(r"[\W_]*[A-ZÀ-ÖØ-Þ\d]|[\W_]*[^\W\d_a-zß-öø-ÿ]|[^\w\s]+$")


class Fault(StrEnum):
    """Why a document is not read."""

    UNKNOWN = "unknown"
    DAMAGED = "damaged"
    ENCRYPTED = "encrypted"
    COPY_PROTECTED = "copy-protected"
    WITHOUT_TEXT = "without-text"
    SCAN = "scan"
    TOO_LARGE = "too-large"


class UnreadableDocument(Exception):
    def __init__(self, fault: Fault) -> None:
        super().__init__(fault.name)
        self.fault = fault


class Kind(StrEnum):
    """Kind of a paragraph."""

    TEXT = "text"
    HEADING = "heading"
    TABLE = "table"  # one row
    CODE = "code"  # its number of lines
    QUOTE = "quote"


@dataclass(frozen=True)
class Block:
    """A paragraph. `level`: of a heading, 1 = the highest."""

    kind: Kind
    text: str
    level: int = 0


@dataclass(frozen=True)
class Outline:
    """Facts of a document; empty where it does not state them. `chapters`: their titles."""

    chapters: tuple[str, ...]
    title: str = ""
    author: str = ""
    language: str = ""


@dataclass(frozen=True)
class Parsed:
    """An opened document. `chapter` returns the paragraphs of one chapter."""

    outline: Outline
    chapter: Callable[[int], Sequence[Block]]


def tidy(text: str) -> str:
    """Return text on one line, composed (NFC), without control characters."""
    text = _SPACES.sub(" ", unicodedata.normalize("NFC", text)).strip()
    if text.isprintable():
        return text
    return "".join(
        char for char in text if unicodedata.category(char) not in ("Cc", "Cs", "Cn", "Co")
    )


def title_of(text: str) -> str:
    """Return a title that is not longer than a title may be."""
    return tidy(text[: 4 * MOST_TITLE])[:MOST_TITLE]


def bounded(blocks: Sequence[Block]) -> list[Block]:
    """Return the paragraphs within the limits on words, paragraphs and the chapter."""
    left = MOST_CHARACTERS
    result = []
    for block in blocks:
        for text in _pieces(block.text[:left]):
            result.append(Block(block.kind, text, block.level))
            left -= len(text)
        if left <= 0:
            break
    return result


def _pieces(text: str) -> Iterator[str]:
    """Yield a text in pieces that end with a sentence, or at least with a word."""
    text = re.sub(rf"(\S{{{MOST_WORD}}})(?=\S)", r"\1 ", text)
    while len(text) > MOST_PARAGRAPH:
        ends = [match.end() for match in _SENTENCE_END.finditer(text, 0, MOST_PARAGRAPH)]
        cut = ends[-1] if ends else text.rindex(" ", 0, MOST_PARAGRAPH) + 1
        yield text[:cut].strip()
        text = text[cut:]
    if text:
        yield text


def sentences(text: str) -> tuple[tuple[int, int], ...]:
    """Return the sentences of a text as (first word, word after the last) of text.split()."""
    words = text.split()
    ranges = []
    start = 0
    for end, word in enumerate(words, 1):
        ends = _END.fullmatch(word) and not _ABBREVIATION.fullmatch(word.rstrip("\"'”’»)]"))
        if end == len(words) or (ends and _START.match(words[end])):
            ranges.append((start, end))
            start = end
    return tuple(ranges)
