"""The words of a page, joined to pieces of lines, by pdfium's functions."""

import ctypes
import math
import re
from array import array
from collections.abc import Iterator
from functools import partial
from typing import Any, Final

from engine.characters import join_surrogates
from engine.reading.parsers.blocks import tidy
from engine.reading.parsers.page_layout import Piece

_GAP: Final = 0.9  # of the size, between two words of one piece
_SHIFTED: Final = 0.1  # of the size: a word on another base line begins a piece
_RAISED: Final = 0.2  # of the size: the number of a note is higher than its word by this,
_SMALL: Final = 0.85  # and smaller than this
_BOLD: Final = re.compile(rb"bold|black|demi|medi\b|cmbx|sfbx|-b\b", re.IGNORECASE)
_HYPHENS: Final = "\ufffe\x02\xad"  # pdfium's signs for one at the end of a line
_WORD: Final = re.compile(rf"[^\s{_HYPHENS}]+[{_HYPHENS}]?")
_LETTER: Final = re.compile(r"[^\W\d_]")
_NUMBER_BEFORE, _NUMBER_BEHIND = re.compile(r"^[\d,*]+"), re.compile(r"[\d,*]+$")


def pieces(raw: Any, page: Any, most: int, turned: int) -> Iterator[Piece]:
    """Yield the pieces of a text page, reading at most `most` characters. `turned`: degrees by
    which the page is turned to be shown.
    """
    count = min(raw.FPDFText_CountChars(page), most)
    codes = array("I", map(partial(raw.FPDFText_GetUnicode, page), range(count)))
    text = codes.tobytes().decode("utf-32-le", "surrogatepass")
    reader = _WordReader(raw, page, turned)
    piece: Piece | None = None
    for found in _WORD.finditer(text):
        word = reader.word(found.start(), found.end() - 1, found[0])
        if word and piece and _follows(piece, word):
            piece = piece.joined(word)
        elif word:
            if piece:
                yield piece
            piece = word
    if piece:
        yield piece


def _follows(piece: Piece, word: Piece) -> bool:
    on_line = abs(word.base - piece.base) < _SHIFTED * piece.size
    return on_line and -piece.size < word.left - piece.right < _GAP * piece.size


class _WordReader:
    def __init__(self, raw: Any, page: Any, turned: int) -> None:
        self._raw = raw
        self._page = page
        self._turned = math.radians(turned)
        self._turn = (-1j) ** (turned // 90)
        self._box = raw.FS_RECTF()
        self._x, self._y = ctypes.c_double(), ctypes.c_double()
        self._name, self._flags = ctypes.create_string_buffer(200), ctypes.c_int()

    def word(self, first: int, last: int, text: str) -> Piece | None:
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
        text = tidy(join_surrogates(text))
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
