"""The text of pages in reading order: running heads out, columns one after another, their lines as
paragraphs. Hyphens at line ends are joined, a paragraph continues over columns and pages; captions
and notes do not interrupt it.

Coordinates are PDF's: points, y rises from the bottom of the page.
"""

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import groupby, pairwise
from statistics import median
from typing import Final, NamedTuple

from engine.reading.parsers.blocks import Block, Kind

_EDGE: Final = 0.12  # of the height of the text: running heads stand there
_FEW: Final = 3  # pieces: a page with so few has no running heads
_SAME_HEIGHT: Final = 6.0  # points
_OVERHANG: Final = 0.06  # of the width: a wider line than its column is not one across both
_FEWEST: Final = 5  # lines of a column
_PROSE: Final = 15  # characters of the median line: less is a table
_EVEN: Final = 3.0  # points: places so near to each other are one
_MOST_DIGITS: Final = 6
_ROW: Final = 0.5  # of the size: raised and lowered text is on the line, the next line is not
_NEAR: Final = 0.12  # of the size: no space between two pieces
_TRIES: Final = 40  # places of a gutter, those first that fewest lines cross
_PLACES: Final = range(24, 97)  # of a gutter, in 120ths of the width

_CAPTION: Final = re.compile(
    r"(?:fig(?:ure)?|table|abb(?:ildung)?|tabelle|tab|algorithm|listing)\.?\s*\d", re.IGNORECASE
)
_LIST_ITEM: Final = re.compile(r"[•▪●◦–—-]\s|\[\d+\]\s|\(?(?:\d{1,2}|[a-z])[.)]\s")
_NUMBERED: Final = re.compile(r"(?:\d{1,2}(?:\.\d{1,2}){0,3}\.?|[IVX]{1,5}\.|[A-Z]\.)\s+[A-Z]")
_NUMBER: Final = re.compile(r"[\W\d_]*(?:[ivxlc]+[\W\d_]*)?")
_ENDED: Final = re.compile(r"[.!?:…][\"'”’)\]]*\s*$")
_HYPHEN: Final = re.compile(r"[^\W\d_][-‐]$")
_MOST_HEADING: Final = 150  # characters


class Piece(NamedTuple):
    """Text on one line. `base`: its base line; `size`: of its font, points."""

    left: float
    right: float
    text: str
    base: float
    size: float
    bold: bool = False

    @property
    def width(self) -> float:
        return self.right - self.left

    def joined(self, other: "Piece") -> "Piece":
        """Return this piece and one to the right of it."""
        near = other.left - self.right < _NEAR * self.size
        text = self.text + ("" if near else " ") + other.text
        right = max(self.right, other.right)
        return Piece(self.left, right, text, self.base, self.size, self.bold)


@dataclass(frozen=True)
class Column:
    """Lines that are read from above to below, and the edges between which they stand."""

    lines: tuple[Piece, ...]
    left: float
    right: float

    @property
    def width(self) -> float:
        return self.right - self.left


def arrange(pages: Mapping[int, Sequence[Piece]]) -> dict[int, list[Column]]:
    """Return the columns of each page in reading order. The pages are compared with each other:
    heads repeat, and a short last column stands where the columns of other pages do.
    """
    seen = Counter(head for pieces in pages.values() for head in set(_heads(pieces).values()))
    bodies = {}
    for number, pieces in pages.items():
        left_out = {each for each, head in _heads(pieces).items() if seen[head] > 1}
        left_out |= _line_numbers(pieces)
        bodies[number] = [each for each in pieces if id(each) not in left_out]
    gutters = [gutter for body in bodies.values() if (gutter := _gutter(body)) is not None]
    filled = sum(bool(body) for body in bodies.values())
    usual = median(gutters) if gutters and 2 * len(gutters) >= filled else None
    return {number: list(_columns(body, usual)) for number, body in bodies.items()}


def _heads(pieces: Sequence[Piece]) -> dict[int, tuple[str, int]]:
    """Return possible running heads by identity: their text without digits, and rough height."""
    if len(pieces) <= _FEW:
        return {}
    bottom, top = min(each.base for each in pieces), max(each.base for each in pieces)
    edge = _EDGE * (top - bottom)
    outer = [each for each in pieces if not bottom + edge < each.base < top - edge]
    texts = [re.sub(r"[\d\W]+", " ", each.text).strip().casefold() for each in outer]
    heads = zip(outer, texts, strict=True)
    return {id(each): (text, round(each.base / _SAME_HEIGHT)) for each, text in heads if text}


def _line_numbers(pieces: Sequence[Piece]) -> set[int]:
    """Return the identities of line numbers: one below the other, in steps of one or five."""
    edges: dict[int, list[Piece]] = {}
    for piece in pieces:
        if piece.text.isdecimal() and len(piece.text) < _MOST_DIGITS:
            edges.setdefault(round(piece.right / _EVEN), []).append(piece)
    found: set[int] = set()
    for column in edges.values():
        column.sort(key=lambda each: -each.base)
        steps = {int(lower.text) - int(upper.text) for upper, lower in pairwise(column)}
        if len(column) > _FEWEST and steps in ({1}, {5}):
            found |= set(map(id, column))
    return found


# ------------------------------------------------------------------------- columns


def _columns(pieces: Sequence[Piece], usual: float | None = None) -> Iterator[Column]:
    """Yield the columns in reading order. A line across them ends those above it."""
    if not pieces:
        return
    gutter = _gutter(pieces)
    if gutter is None:
        gutter = usual
    if gutter is None:
        yield _column(pieces)
        return
    width = max(each.right for each in pieces) - min(each.left for each in pieces)
    overhang = _OVERHANG * width

    def is_across(piece: Piece) -> bool:
        return piece.left < gutter - overhang and piece.right > gutter + overhang

    for across, band in groupby(sorted(pieces, key=lambda each: -each.base), is_across):
        beside = list(band)
        if across:
            yield _column(beside)
            continue
        yield from _columns([each for each in beside if each.left + each.right <= 2 * gutter])
        yield from _columns([each for each in beside if each.left + each.right > 2 * gutter])


def _gutter(pieces: Sequence[Piece]) -> float | None:
    """Return a place in the space between two columns of prose; None if there is none."""
    if len(pieces) < 2 * _FEWEST:
        return None
    lefts, rights = sorted(each.left for each in pieces), sorted(each.right for each in pieces)
    left, width = lefts[0], rights[-1] - lefts[0]
    places = [left + width * number / 120 for number in _PLACES]
    crossing = {at: bisect_left(lefts, at) - bisect_right(rights, at) for at in places}
    fewest = sorted(places, key=lambda at: (crossing[at], abs(at - left - width / 2)))
    return next((at for at in fewest[:_TRIES] if _is_gutter(pieces, at, crossing[at])), None)


def _is_gutter(pieces: Sequence[Piece], at: float, crossing: int) -> bool:
    """Return whether prose, not a few lines between those that cross it, is on both sides."""
    sides = (
        join_lines([each for each in pieces if each.right <= at + 1]),
        join_lines([each for each in pieces if each.left >= at - 1]),
    )
    if min(map(len, sides)) < max(_FEWEST, crossing / 2):
        return False
    return min(median(len(line.text) for line in side) for side in sides) >= _PROSE


def _column(pieces: Sequence[Piece]) -> Column:
    lines = join_lines(pieces)
    left, right = min(each.left for each in lines), max(each.right for each in lines)
    return Column(tuple(lines), left, right)


def join_lines(pieces: Sequence[Piece]) -> list[Piece]:
    """Join the pieces that stand on one line; return the lines from above to below."""
    rows: list[list[Piece]] = []
    for piece in sorted(pieces, key=lambda each: -each.base):
        main = max(rows[-1], key=lambda each: each.width) if rows else None
        if main and main.base - piece.base < _ROW * max(main.size, piece.size):
            rows[-1].append(piece)
        else:
            rows.append([piece])
    lines = []
    for row in rows:
        row.sort(key=lambda each: each.left)
        main = max(row, key=lambda each: each.width)
        line = reduce(Piece.joined, row)
        lines.append(line._replace(base=main.base, size=main.size, bold=main.bold))
    return lines


# ---------------------------------------------------------------------- paragraphs


@dataclass(frozen=True)
class Flowed:
    """A paragraph and the page on which it begins. `size`: of its font, points."""

    block: Block
    page: int
    size: float


def flow(pages: Mapping[int, Sequence[Column]]) -> list[Flowed]:
    """Return the paragraphs of pages in reading order."""
    lines = [line for columns in pages.values() for column in columns for line in column.lines]
    sizes: Counter[float] = Counter()
    for line in lines:
        sizes[round(line.size * 2) / 2] += len(line.text)
    body = max(sizes, key=sizes.__getitem__, default=0.0)
    # Words with a hyphen inside a line keep theirs at the end of one.
    words = {word.casefold() for line in lines for word in re.findall(r"\w+[-‐]\w+", line.text)}
    result: list[Flowed] = []
    held: list[Flowed] = []  # captions and notes that stand inside a paragraph
    for page in sorted(pages):
        for run in (run for column in pages[page] for run in _runs(column)):
            flowed = Flowed(_block(run, body, words), page, median(line.size for line in run))
            text, last = flowed.block.text, result[-1] if result else None
            if sum(map(str.isalpha, text)) < 2 or _NUMBER.fullmatch(text):
                continue  # the number of a page, or part of a formula
            if last is None or last.block.kind is Kind.HEADING or _ENDED.search(last.block.text):
                result += [*held, flowed]
                held = []
            elif flowed.block.kind is Kind.TEXT and re.match(r"[a-zà-ÿ(,;]", text):
                text = _join(last.block.text, text, words)
                result[-1] = replace(last, block=replace(last.block, text=text))
            elif _CAPTION.match(text) or flowed.size < 0.93 * body:
                held.append(flowed)
            else:
                result += [*held, flowed]
                held = []
    return [*result, *held]


def _runs(column: Column) -> list[list[Piece]]:
    """Divide the lines of a column at larger gaps, indents, short last lines, and new fonts."""
    lines = column.lines
    gaps = [above.base - below.base for above, below in pairwise(lines)]
    usual = median(gaps) if gaps else 0.0
    runs = [[lines[0]]]
    for (above, below), gap in zip(pairwise(lines), gaps, strict=True):
        if gap > 1.4 * usual or _begins_paragraph(above, below, column, runs[-1]):
            runs.append([below])
        else:
            runs[-1].append(below)
    return runs


def _begins_paragraph(above: Piece, below: Piece, column: Column, run: Sequence[Piece]) -> bool:
    size, ended = above.size, bool(_ENDED.search(above.text))
    if abs(below.size - size) > 0.12 * size:
        return True
    if above.bold != below.bold and all(line.bold for line in run):
        return True
    if _LIST_ITEM.match(below.text) and not _HYPHEN.search(above.text):
        return ended or below.left <= run[0].left + 1
    first = len(run) == 1
    indent = below.left - min(above.left, column.left if first else above.left)
    if 0.6 * size < indent < 5 * size and (ended or not first):
        return True
    return ended and above.right < column.right - max(2 * size, 0.08 * column.width)


def _block(run: Sequence[Piece], body: float, words: set[str]) -> Block:
    text = run[0].text
    for line in run[1:]:
        text = _join(text, line.text, words)
    size = median(line.size for line in run)
    if len(text) > _MOST_HEADING or text.endswith((".", ",", ";")) or not text[:1].isalnum():
        return Block(Kind.TEXT, text)
    numbered = _NUMBERED.match(text) and size >= 0.95 * body and len(text) < 80
    striking = size > 1.12 * body or all(line.bold for line in run) or numbered
    if not striking or _CAPTION.match(text):
        return Block(Kind.TEXT, text)
    return Block(Kind.HEADING, text, 1 if size > 1.3 * body else 2)


def _join(text: str, more: str, words: set[str]) -> str:
    """Join two lines; a word that was divided at the end of the first one becomes whole."""
    if not _HYPHEN.search(text):
        return f"{text} {more}"
    if not more[:1].islower():
        return text + more
    head, tail = re.findall(r"\w+", text)[-1], re.match(r"\w+", more)
    compound = f"{head}-{tail[0] if tail else ''}".casefold()
    return text + more if compound in words else text[:-1] + more
