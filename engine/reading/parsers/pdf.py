"""PDF with text: chapters by the bookmarks, paragraphs in reading order.

Invariant: a chapter reads only its pages and a few around it, so a long document opens quickly.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, BinaryIO, Final

from engine.reading.parsers import page_characters, page_layout
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
_PASSWORD_ERROR: Final = 4  # FPDF_ERR_PASSWORD
_SECURITY_ERROR: Final = 5
_LANGUAGE: Final = re.compile(rb"/Lang\s*\(([A-Za-z]{2,3})\b")


@dataclass(frozen=True)
class _Start:
    """A chapter and its first page. `named`: the title is a heading on it."""

    title: str
    page: int
    named: bool = True


class _Pages:
    """An open PDF."""

    def __init__(self, file: BinaryIO) -> None:
        import pypdfium2

        try:
            self._pdf: Any = pypdfium2.PdfDocument(file)
        except pypdfium2.PdfiumError as error:
            code = getattr(error, "err_code", 0)
            protected = code in (_PASSWORD_ERROR, _SECURITY_ERROR)
            fault = Fault.ENCRYPTED if protected else Fault.DAMAGED
            raise UnreadableDocument(fault) from error
        self._raw = pypdfium2.raw
        self._error = pypdfium2.PdfiumError
        self.count = min(len(self._pdf), MOST_PAGES)
        self._pieces: dict[int, list[Piece]] = {}
        self.metadata: dict[str, str] = self._pdf.get_metadata_dict()

    def pieces(self, number: int) -> list[Piece]:
        """Return the pieces of text of a page, none of a page that cannot be read."""
        if number not in self._pieces:
            try:
                self._pieces[number] = list(self._read(number))
            except self._error:
                self._pieces[number] = []
        return self._pieces[number]

    def bookmarks(self) -> list[tuple[int, str, int]]:
        """Return (level, title, page) of the bookmarks that lead to a page; none if they are
        damaged.
        """
        try:
            return list(self._bookmarks())
        except (self._error, UnicodeError):
            return []

    def _bookmarks(self) -> Iterator[tuple[int, str, int]]:
        for count, mark in enumerate(self._pdf.get_toc(max_depth=3)):
            target = mark.get_dest()
            page = None if target is None else target.get_index()
            if page is not None and 0 <= page < self.count:
                yield mark.level, title_of(mark.get_title()), page
            if count >= MOST_CHAPTERS:
                return

    def _read(self, number: int) -> Iterator[Piece]:
        page = self._pdf[number]
        text = page.get_textpage()
        try:
            turned = page.get_rotation()
            yield from page_characters.pieces(self._raw, text.raw, MOST_CHARACTERS, turned)
        finally:
            text.close()
            page.close()


class _Document:
    def __init__(self, file: BinaryIO) -> None:
        self._pages = _Pages(file)
        self._refuse_scan()
        self._title = title_of(self._pages.metadata.get("Title", ""))
        self._starts = self._chapter_starts()
        file.seek(0)
        stated = _LANGUAGE.search(file.read(1 << 20))
        self.outline = Outline(
            tuple(start.title for start in self._starts),
            self._title,
            title_of(self._pages.metadata.get("Author", "")),
            stated[1].decode() if stated else "",
        )

    def chapter(self, index: int) -> list[Block]:
        """Return the paragraphs from the heading of a chapter to that of the next one."""
        start = self._starts[index]
        following = self._starts[index + 1 : index + 2]
        last = following[0].page if following else self._pages.count - 1
        flowed = self._flow(start.page, last)
        before = [each for each in self._starts[:index] if each.page == start.page]
        positions = [*_positions(flowed, [*before, start, *following]), len(flowed)]
        return [each.block for each in flowed[positions[len(before)] : positions[len(before) + 1]]]

    def _flow(self, first: int, last: int) -> list[Flowed]:
        """Return the paragraphs of pages, also those that began on the page before."""
        around = range(max(0, first - _AROUND), min(self._pages.count, last + 1 + _AROUND))
        pages = {number: self._pages.pieces(number) for number in around}
        ordered = page_layout.arrange(pages)
        return flow({number: ordered[number] for number in around})

    def _chapter_starts(self) -> list[_Start]:
        """Return the chapters of the bookmarks: the first level, and deeper ones where a chapter
        is long. Without bookmarks, runs of pages.
        """
        marks = self._pages.bookmarks()
        if len(marks) < 2:
            return self._runs(0, self._pages.count, self._title)
        shallowest = min(level for level, _, _ in marks)
        starts: list[_Start] = []
        if marks[0][2] > 0:
            starts.append(_Start(self._title, 0, named=False))
        for level, title, page in marks:
            if starts and page < starts[-1].page:
                continue
            if level == shallowest or page - starts[-1].page > _RUN:
                starts.append(_Start(title, page))
        pages = [*(start.page for start in starts[1:]), self._pages.count]
        if starts[0].page == 0:  # what stands above the first heading belongs to it
            starts[0] = replace(starts[0], named=False)
        return [
            part
            for start, end in zip(starts, pages, strict=True)
            for part in (start, *self._runs(start.page, end, start.title)[1:])
        ]

    def _runs(self, first: int, end: int, title: str) -> list[_Start]:
        """Divide pages into chapters that are read quickly."""
        starts = range(first, max(first + 1, end - _RUN // 2), _RUN)
        if len(starts) == 1:
            return [_Start(title, first, named=False)]
        return [
            _Start(f"{title} ({number})" if title else str(number), page, named=False)
            for number, page in enumerate(starts, 1)
        ]

    def _refuse_scan(self) -> None:
        count = self._pages.count
        step = max(1, count // _LOOKED_AT)
        if not any(self._pages.pieces(number) for number in range(0, count, step)):
            raise UnreadableDocument(Fault.SCAN if count else Fault.DAMAGED)


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
    wanted, found = _letters(start.title), _letters(flowed.block.text)
    if min(len(wanted), len(found)) < _FEWEST_LETTERS:
        return wanted == found
    return (found.endswith(wanted) or wanted.endswith(found)) and abs(len(found) - len(wanted)) < 12


def _letters(text: str) -> str:
    return "".join(char for char in text.casefold() if char.isalnum())


def parse(file: BinaryIO) -> Parsed:
    """Open a document."""
    document = _Document(file)
    return Parsed(document.outline, document.chapter)
