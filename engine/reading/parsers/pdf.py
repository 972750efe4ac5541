"""PDF with text: chapters by the bookmarks, paragraphs in reading order.

Invariant: a chapter reads only its pages and a few around it, so a long document opens quickly.
"""

import ctypes
from bisect import bisect_right
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice, pairwise
from typing import Any, BinaryIO, Final

from engine.reading.parsers import page_layout, page_words
from engine.reading.parsers.blocks import (
    MOST_CHAPTERS,
    Block,
    Fault,
    Outline,
    Parsed,
    UnreadableDocument,
    title_of,
)
from engine.reading.parsers.page_layout import Piece
from engine.reading.parsers.paragraphs import Flowed, flow

MOST_PAGES: Final = 20_000
_RUN: Final = 20  # pages of a chapter where the document has no bookmarks
MOST_CHARACTERS: Final = 50_000  # of a page
_AROUND: Final = 2  # pages before and after, whose running heads are compared
_LOOKED_AT: Final = 20  # pages, for whether there is text at all
_FEWEST_LETTERS: Final = 4  # of a heading that is found without its number
_MOST_NUMBER: Final = 12  # letters of that number
_PROTECTED: Final = (4, 5)  # FPDF_ERR_PASSWORD, FPDF_ERR_SECURITY
_MOST_LANGUAGE: Final = 40  # characters of its code


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
        self.outline = Outline(
            titles, self._title, title_of(facts.get("Author", "")), self._language()
        )

    def chapter(self, index: int) -> list[Block]:
        """Return the paragraphs from the heading of a chapter to that of the next one."""
        start = self._starts[index]
        following = self._starts[index + 1 : index + 2]
        last = following[0].page if following else self._count - 1
        flowed = self._flow(start.page, last)
        before = [each for each in self._starts[:index] if each.page == start.page]
        positions = [*_positions(flowed, [*before, start, *following]), len(flowed)]
        return [each.block for each in flowed[positions[len(before)] : positions[len(before) + 1]]]

    def _flow(self, first: int, last: int) -> list[Flowed]:
        """Return the paragraphs of pages, also those that began on the page before."""
        around = range(max(0, first - _AROUND), min(self._count, last + 1 + _AROUND))
        return flow(page_layout.arrange({number: self._pieces(number) for number in around}))

    def _pieces(self, number: int) -> list[Piece]:
        """Return the pieces of text of a page, none of a page that cannot be read."""
        with suppress(self._error, UnicodeError):
            page = self._pdf[number]
            text = page.get_textpage()
            turned = page.get_rotation()
            return list(page_words.pieces(self._raw, text.raw, MOST_CHARACTERS, turned))
        return []

    def _language(self) -> str:
        name = (self._raw.FPDF_WCHAR * _MOST_LANGUAGE)()
        self._raw.FPDFCatalog_GetLanguage(self._pdf.raw, name, ctypes.sizeof(name))
        return bytes(name).decode("utf-16-le", "ignore").rstrip("\0")

    def _bookmarks(self) -> list[tuple[int, str, int]]:
        """Return (level, title, page) of the bookmarks that lead to a page, up to a damaged one."""
        marks = []
        with suppress(self._error, UnicodeError):
            for mark in islice(self._pdf.get_toc(max_depth=3), MOST_CHAPTERS):
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


def parse(file: BinaryIO) -> Parsed:
    """Open a document."""
    document = _Document(file)
    return Parsed(document.outline, document.chapter)
