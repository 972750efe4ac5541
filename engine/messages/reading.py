"""Documents that are read aloud: their parts, and the messages about them.

Invariant: no text of a document is in a message about the conversation.
"""

from dataclasses import dataclass
from enum import Enum
from pathlib import Path

# ------------------------------------------------------------------ documents

DOCUMENT_SUFFIXES = (
    *(".epub", ".pdf", ".html", ".htm", ".xhtml", ".md", ".markdown", ".docx", ".txt", ".text"),
    *(".rst", ".log", ".csv", ".org", ".srt"),
)


@dataclass(frozen=True, order=True)
class Place:
    """A word of a document: numbers from 0 of its chapter, of the paragraph in it, and of the word
    in the paragraph's text (`text.split()`).
    """

    chapter: int = 0
    paragraph: int = 0
    word: int = 0


@dataclass(frozen=True)
class Paragraph:
    """`kind`: "text", "heading", "table", "code" or "quote". `sentences`: the first word of each,
    and the one behind it.
    """

    text: str
    kind: str = "text"
    sentences: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True)
class Chapter:
    title: str
    paragraphs: tuple[Paragraph, ...]


@dataclass(frozen=True)
class ReadDocument:
    """A line of the list of documents that were opened. `key` identifies its content; `read_at`:
    seconds since 1970; `chapter`: title of the chapter of the place, of `chapters`.
    """

    key: str
    title: str
    author: str
    path: Path
    place: Place
    read_at: float
    chapter: str = ""
    chapters: int = 0


# ------------------------------------------------------------------ commands


class Unit(Enum):
    """The unit of a skip."""

    SENTENCE = "sentence"
    PARAGRAPH = "paragraph"
    CHAPTER = "chapter"


@dataclass(frozen=True)
class OpenDocument:
    """Open a document instead of the present one; `aloud`: and read it from its place. `private`:
    neither it nor its place is saved. Answered by DocumentOpened or DocumentRefused.
    """

    path: Path
    aloud: bool = False
    private: bool = False


@dataclass(frozen=True)
class ReadAloud:
    """Read the open document aloud; None = from its place on."""

    place: Place | None = None


@dataclass(frozen=True)
class PauseReading:
    """Stop reading; the document stays open at its place."""


@dataclass(frozen=True)
class SkipReading:
    """Go on `by` sentences, paragraphs or chapters, or back to the beginning of this one (-1), or
    of an earlier one. A reading that is paused stays so.
    """

    unit: Unit
    by: int


@dataclass(frozen=True)
class CloseDocument:
    """Stop reading and close the document."""


@dataclass(frozen=True)
class ShowChapter:
    """Answered by ChapterShown."""

    chapter: int


@dataclass(frozen=True)
class ListDocuments:
    """Answered by DocumentsListed."""


@dataclass(frozen=True)
class RemoveDocument:
    """Forget a document and its place; the file stays."""

    key: str


DocumentCommand = OpenDocument | CloseDocument | ShowChapter | ListDocuments | RemoveDocument
ReadingCommand = DocumentCommand | ReadAloud | PauseReading | SkipReading

# -------------------------------------------------------------------- events


@dataclass(frozen=True)
class DocumentOpened:
    """A document is open, to be read from `place` on. `language`: its code; "" = unknown.
    `private`: see OpenDocument.
    """

    key: str
    title: str
    author: str
    language: str
    chapter_titles: tuple[str, ...]
    place: Place
    path: Path = Path()
    aloud: bool = False
    private: bool = False


@dataclass(frozen=True)
class DocumentRefused:
    """A document could not be opened; the one before stays open. Failed reports it too."""

    name: str
    message: str
    hint: str


@dataclass(frozen=True)
class DocumentClosed:
    """No document is open."""


@dataclass(frozen=True)
class ChapterShown:
    """The text of a chapter of the document `key`."""

    key: str
    number: int
    chapter: Chapter


@dataclass(frozen=True)
class DocumentsListed:
    """The documents that were opened, the last one first."""

    documents: tuple[ReadDocument, ...]


@dataclass(frozen=True)
class ReadingChanged:
    """The reading goes on, or is paused. `ended`: it has reached the end of the document."""

    aloud: bool
    ended: bool = False


@dataclass(frozen=True)
class PlaceReached:
    """The word that is heard now, or from which the reading will go on."""

    place: Place


ReadingEvent = (
    DocumentOpened
    | DocumentRefused
    | DocumentClosed
    | ChapterShown
    | DocumentsListed
    | ReadingChanged
    | PlaceReached
)
