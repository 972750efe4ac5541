"""The characters of a page, joined to pieces of lines, by pdfium's functions."""

import ctypes
import re
import sys
from collections.abc import Iterator
from typing import Any, Final

from engine.reading.parsers.blocks import tidy
from engine.reading.parsers.page_layout import Piece

_RAISED: Final = 0.1  # of the size: a character on another base line begins a piece
_SHIFTED: Final = 0.36  # of the size
_JOINED: Final = 0.45  # of the size, between two letters of a word
_GAP: Final = 0.9  # of the size, between two words of one piece
_BOLD: Final = re.compile(rb"bold|black|demi|medi\b|cmbx|sfbx|-b\b", re.IGNORECASE)
_HYPHENS: Final = re.compile("[\ufffe\x02\xad]")  # pdfium's signs for one at the end of a line
Box = tuple[float, float, float, float]  # left, bottom, right, top


class _Line:
    """A piece that is being read."""

    def __init__(self, box: Box, base: float, index: int) -> None:
        self.left, self.bottom, self.right, self.top = box
        self.base = base
        self.index = index  # of its first character
        self.text = ""

    def add(self, char: str, box: Box) -> None:
        self.text += char
        self.left, self.bottom = min(self.left, box[0]), min(self.bottom, box[1])
        self.right, self.top = max(self.right, box[2]), max(self.top, box[3])


def pieces(raw: Any, page: Any, most: int, turned: int) -> Iterator[Piece]:
    """Yield the pieces of a text page, reading at most `most` characters. `turned`: degrees by
    which the page is turned to be shown.
    """
    edges = [ctypes.c_double() for _ in range(4)]
    left, right, bottom, top = map(ctypes.byref, edges)
    x, y = ctypes.c_double(), ctypes.c_double()
    line: _Line | None = None
    size = 0.0
    for index in range(min(raw.FPDFText_CountChars(page), most)):
        char = chr(min(raw.FPDFText_GetUnicode(page, index), sys.maxunicode))
        if char in "\r\n ":
            if line:
                line.text += " "
            continue
        raw.FPDFText_GetCharBox(page, index, left, right, bottom, top)
        raw.FPDFText_GetCharOrigin(page, index, ctypes.byref(x), ctypes.byref(y))
        box = _turn((edges[0].value, edges[2].value, edges[1].value, edges[3].value), turned)
        base = _turn((x.value, y.value) * 2, turned)[1]
        if line is None or not _follows(line, char, box, base, size):
            if line:
                yield from _piece(raw, page, line, size)
            line = _Line(box, base, index)
            size = _size(raw, page, index, turned) or box[3] - box[1]
        line.add(char, box)
    if line:
        yield from _piece(raw, page, line, size)


def _turn(box: Box, turned: int) -> Box:
    """Return a box as it stands on the page that is shown."""
    left, bottom, right, top = box
    match turned:
        case 90:
            return bottom, -right, top, -left
        case 180:
            return -right, -top, -left, -bottom
        case 270:
            return -top, left, -bottom, right
        case _:
            return box


def _follows(line: _Line, char: str, box: Box, base: float, size: float) -> bool:
    """Return whether a character stands behind a piece, on the same line. A letter may be raised or
    lowered a little, as those of "LaTeX" and "H2O"; a raised figure may be the number of a note.
    """
    gap, shift = box[0] - line.right, abs(base - line.base)
    if shift < _RAISED * size:
        return -size < gap < _GAP * size
    return char.isalpha() and shift < _SHIFTED * size and abs(gap) < _JOINED * size


def _piece(raw: Any, page: Any, line: _Line, size: float) -> Iterator[Piece]:
    text = tidy(_HYPHENS.sub("-", line.text))
    if text:
        bold = _BOLD.search(_font(raw, page, line.index)) is not None
        yield Piece(line.left, line.bottom, line.right, line.top, text, line.base, size, bold)


def _size(raw: Any, page: Any, index: int, turned: int) -> float:
    box = raw.FS_RECTF()
    raw.FPDFText_GetLooseCharBox(page, index, box)
    upright = turned % 180 == 0
    return float(abs(box.top - box.bottom) if upright else abs(box.right - box.left))


def _font(raw: Any, page: Any, index: int) -> bytes:
    name, flags = ctypes.create_string_buffer(200), ctypes.c_int()
    raw.FPDFText_GetFontInfo(page, index, name, 200, flags)
    return name.value
