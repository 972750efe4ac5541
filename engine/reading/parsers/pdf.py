"""PDF with text: chapters by the bookmarks, paragraphs in reading order.

Invariant: a chapter reads only its pages and a few around it, so a long document opens quickly. The
words of a page are joined to pieces of lines by pdfium's functions.
"""

import ctypes
import math
import re
from array import array
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import islice, pairwise
from typing import Any, BinaryIO, Final

from engine.characters import join_surrogates
from engine.reading.parsers import blocks, page_layout
from engine.reading.parsers.blocks import Block, Fault, UnreadableDocument, title_of
from engine.reading.parsers.page_layout import Flowed, Piece

MOST_PAGES: Final = 20_000
_RUN: Final = 20  # pages of a chapter where the document has no bookmarks
MOST_CHARACTERS: Final = 50_000  # of a page
_AROUND: Final = 2  # pages before and after, whose running heads are compared
_LOOKED_AT: Final = 20  # pages, for whether there is text at all
_FEWEST_LETTERS: Final = 4  # of a heading that is found without its number
_MOST_NUMBER: Final = 12  # letters of that number
_PROTECTED: Final = (4, 5)  # FPDF_ERR_PASSWORD, FPDF_ERR_SECURITY
_MOST_LANGUAGE: Final = 40  # characters of its code
_GAP: Final = 0.9  # of the size, between two words of one piece
_SHIFTED: Final = 0.1  # of the size: a word on another base line begins a piece
_RAISED: Final = 0.2  # of the size: the number of a note is higher than its word by this,
_SMALL: Final = 0.85  # and smaller than this
_BOLD: Final = re.compile(rb"bold|black|demi|medi\b|cmbx|sfbx|-b\b", re.IGNORECASE)
_HYPHENS: Final = "\ufffe\x02\xad"  # pdfium's signs for one at the end of a line
_WORD: Final = re.compile(rf"[^\s{_HYPHENS}]+[{_HYPHENS}]?")
_LETTER: Final = re.compile(r"[^\W\d_]")
_NUMBER_BEFORE, _NUMBER_BEHIND = re.compile(r"^[\d,*]+"), re.compile(r"[\d,*]+$")


class _PageReader:
    """`turned`: degrees by which the page is turned to be shown."""

    def __init__(self, raw: Any, page: Any, turned: int) -> None:
        self._raw = raw
        self._page = page
        self._turned = math.radians(turned)
        self._turn = (-1j) ** (turned // 90)
        self._box = raw.FS_RECTF()
        self._x, self._y = ctypes.c_double(), ctypes.c_double()
        self._name, self._flags = ctypes.create_string_buffer(200), ctypes.c_int()

    def pieces(self) -> Iterator[Piece]:
        """Yield the pieces of the page."""
        count = min(self._raw.FPDFText_CountChars(self._page), MOST_CHARACTERS)
        codes = array("I", map(partial(self._raw.FPDFText_GetUnicode, self._page), range(count)))
        text = codes.tobytes().decode("utf-32-le", "surrogatepass")
        piece: Piece | None = None
        for found in _WORD.finditer(text):
            word = self._word(found.start(), found.end() - 1, found[0])
            if not word:
                continue
            size = piece.size if piece else 0.0
            if (
                piece
                and abs(word.base - piece.base) < _SHIFTED * size
                and (-size < word.left - piece.right < _GAP * size)
            ):
                piece = piece.joined(word)
                continue
            if piece:
                yield piece
            piece = word
        if piece:
            yield piece

    def _word(self, first: int, last: int, text: str) -> Piece | None:
        """Return the characters from `first` to `last`; None if they do not stand on a line."""
        angle = self._raw.FPDFText_GetCharAngle(self._page, first)
        if abs(math.sin(angle - self._turned)) > _SHIFTED:
            return None
        letter = _LETTER.search(text)
        main = first + letter.start() if letter else first
        left, right, size = self._edges(main)
        base = self._base(main)
        for end, number in ((first, _NUMBER_BEFORE), (last, _NUMBER_BEHIND)):
            if end != main:
                edges = self._edges(end)
                left, right = min(left, edges[0]), max(right, edges[1])
                small = letter and edges[2] < _SMALL * size
                if small and self._base(end) > base + _RAISED * size:
                    text = number.sub("", text)  # of a note
        self._raw.FPDFText_GetFontInfo(self._page, main, self._name, 200, self._flags)
        bold = _BOLD.search(self._name.value) is not None
        if text[-1] in _HYPHENS:
            text = f"{text[:-1]}-"
        text = blocks.tidy(join_surrogates(text))
        return Piece(left, right, text, base, size, bold) if text else None

    def _edges(self, index: int) -> tuple[float, float, float]:
        """Return the left and right edge of a character, and the height of its font."""
        box = self._box
        self._raw.FPDFText_GetLooseCharBox(self._page, index, box)
        corner = complex(box.left, box.bottom) * self._turn
        other = complex(box.right, box.top) * self._turn
        left, right = sorted((corner.real, other.real))
        return left, right, abs(corner.imag - other.imag)

    def _base(self, index: int) -> float:
        """Return the height of the line on which a character stands."""
        self._raw.FPDFText_GetCharOrigin(self._page, index, self._x, self._y)
        return (complex(self._x.value, self._y.value) * self._turn).imag


@dataclass(frozen=True)
class _Start:
    """A chapter and its first page. `named`: the title is a heading on it."""

    title: str
    page: int
    named: bool = True


class _Document:
    """An open PDF."""

    def __init__(self, file: BinaryIO) -> None:
        import pypdfium2

        self._raw = pypdfium2.raw
        self._error = pypdfium2.PdfiumError
        try:
            self._pdf: Any = pypdfium2.PdfDocument(file)
        except self._error as error:
            protected = getattr(error, "err_code", 0) in _PROTECTED
            raise UnreadableDocument(Fault.ENCRYPTED if protected else Fault.DAMAGED) from error
        self._count = min(len(self._pdf), MOST_PAGES)
        looked_at = range(0, self._count, max(1, self._count // _LOOKED_AT))
        if not any(self._pieces(number) for number in looked_at):
            raise UnreadableDocument(Fault.SCAN if self._count else Fault.DAMAGED)
        facts = self._pdf.get_metadata_dict()
        self._title = title_of(facts.get("Title", ""))
        self._starts = self._chapter_starts()
        titles = tuple(start.title for start in self._starts)
        name = (self._raw.FPDF_WCHAR * _MOST_LANGUAGE)()
        self._raw.FPDFCatalog_GetLanguage(self._pdf.raw, name, ctypes.sizeof(name))
        language = bytes(name).decode("utf-16-le", "ignore").rstrip("\0")
        author = title_of(facts.get("Author", ""))
        self.outline = blocks.Outline(titles, self._title, author, language)

    def chapter(self, index: int) -> list[Block]:
        """Return the paragraphs from the heading of a chapter to that of the next one."""
        start = self._starts[index]
        following = self._starts[index + 1 : index + 2]
        last = following[0].page if following else self._count - 1
        around = range(max(0, start.page - _AROUND), min(self._count, last + 1 + _AROUND))
        pages = page_layout.arrange({number: self._pieces(number) for number in around})
        flowed = page_layout.flow(pages)
        before = [each for each in self._starts[:index] if each.page == start.page]
        positions = [*_positions(flowed, [*before, start, *following]), len(flowed)]
        return [each.block for each in flowed[positions[len(before)] : positions[len(before) + 1]]]

    def _pieces(self, number: int) -> list[Piece]:
        """Return the pieces of text of a page, none of a page that cannot be read."""
        with suppress(self._error, UnicodeError):
            page = self._pdf[number]
            text = page.get_textpage()  # its memory lives as long as this
            return list(_PageReader(self._raw, text.raw, page.get_rotation()).pieces())
        return []

    def _bookmarks(self) -> list[tuple[int, str, int]]:
        """Return (level, title, page) of the bookmarks that lead to a page, up to a damaged one."""
        marks = []
        with suppress(self._error, UnicodeError):
            for mark in islice(self._pdf.get_toc(max_depth=3), blocks.MOST_CHAPTERS):
                target = mark.get_dest()
                page = None if target is None else target.get_index()
                if page is not None and 0 <= page < self._count:
                    marks.append((mark.level, title_of(mark.get_title()), page))
        return marks

    def _chapter_starts(self) -> list[_Start]:
        """Return the chapters of the bookmarks: the first level, and deeper ones where a chapter is
        long. Chapters that are still long are divided into runs of pages.
        """
        marks = self._bookmarks()
        # Text above the first heading belongs to its chapter.
        starts = [_Start(self._title, 0, named=False)]
        if len(marks) > 1:
            shallowest = min(level for level, _, _ in marks)
            if marks[0][2] == 0:
                starts = [_Start(marks.pop(0)[1], 0, named=False)]
            for level, title, page in marks:
                long = page - starts[-1].page > _RUN
                if page >= starts[-1].page and (level == shallowest or long):
                    starts.append(_Start(title, page))
        parts = []
        for start, end in pairwise([*starts, _Start("", self._count)]):
            parts.append(start)
            more = range(start.page + _RUN, end.page - _RUN // 2, _RUN)
            for number, page in enumerate(more, 2):
                title = f"{start.title} ({number})" if start.title else str(number)
                parts.append(_Start(title, page, named=False))
        return parts


def _positions(flowed: Sequence[Flowed], starts: Sequence[_Start]) -> list[int]:
    """Return the index of the paragraph with which each of these chapters begins. A heading that is
    not found stands behind that of the chapter before.
    """
    pages = [each.page for each in flowed]
    positions: list[int] = []
    for start in starts:
        first, end = bisect_right(pages, start.page - 1), bisect_right(pages, start.page)
        found = [index for index in range(first, end) if _is_heading(flowed[index], start)]
        after = min(positions[-1] + 1, len(flowed)) if positions else 0
        positions.append(max(after, found[0] if found and start.named else first))
    return positions


def _is_heading(flowed: Flowed, start: _Start) -> bool:
    """Return whether a paragraph is the heading of a chapter, with or without its number."""
    short, long = sorted((_letters(start.title), _letters(flowed.block.text)), key=len)
    if len(short) < _FEWEST_LETTERS:
        return short == long
    return long.endswith(short) and len(long) - len(short) < _MOST_NUMBER


def _letters(text: str) -> str:
    return "".join(char for char in text.casefold() if char.isalnum())


def parse(file: BinaryIO) -> blocks.Parsed:
    """Open a document."""
    document = _Document(file)
    return blocks.Parsed(document.outline, document.chapter)
