"""The order in which the text of a page is read: running heads out, columns one after another.

Coordinates are PDF's: points, y rises from the bottom of the page.
"""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import median
from typing import Final

_EDGE: Final = 0.12  # of the height of the text: running heads and page numbers stand there
_SAME_HEIGHT: Final = 6.0  # points
_OVERHANG: Final = 0.06  # of the width: a wider line than its column is not one across both
_FEWEST: Final = 5  # lines of a column
_FILLED: Final = 0.55  # of a column's width, by its median line: less is a table
_ALIGNED: Final = 0.5  # of the lines of a right column begin at one place, within _EVEN points
_EVEN: Final = 3.0
_MOST_DIGITS: Final = 6
_ROW: Final = 0.5  # of the size: raised and lowered text is on the line, the next line is not
_TRIES: Final = 40  # places of a gutter, those first that fewest lines cross
_BESIDE: Final = 40.0  # points: a number so near to other text is not that of a page
_PAGE_NUMBER: Final = re.compile(
    r"\W*(?:page|seite|p\.)?\W*(?:\d{1,5}|[ivxlc]{1,7})\W*(?:(?:/|of|von|de)\s*\d+)?\W*",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Piece:
    """Text on one line. `base`: its base line; `size`: of its font, points."""

    left: float
    bottom: float
    right: float
    top: float
    text: str
    base: float
    size: float
    bold: bool = False

    @property
    def height(self) -> float:
        return self.top - self.bottom

    @property
    def width(self) -> float:
        return self.right - self.left


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
    repeated = _repeated_heads(pages)
    bodies = {number: _body(pieces, repeated) for number, pieces in pages.items()}
    gutters = [gutter for body in bodies.values() if (gutter := _gutter(body)) is not None]
    filled = sum(bool(body) for body in bodies.values())
    usual = median(gutters) if gutters and 2 * len(gutters) >= filled else None
    return {number: _columns(body, usual) for number, body in bodies.items()}


# ------------------------------------------------------------------- running heads


def _repeated_heads(pages: Mapping[int, Sequence[Piece]]) -> set[tuple[str, int]]:
    """Return the texts that stand at one height at the edge of more than one page."""
    seen: Counter[tuple[str, int]] = Counter()
    for pieces in pages.values():
        seen.update({_head(piece) for piece in _at_edges(pieces)})
    return {head for head, count in seen.items() if count > 1 and head[0]}


def _at_edges(pieces: Sequence[Piece]) -> list[Piece]:
    if not pieces:
        return []
    bottom, top = min(each.bottom for each in pieces), max(each.top for each in pieces)
    edge = _EDGE * (top - bottom)
    return [each for each in pieces if each.top > top - edge or each.bottom < bottom + edge]


def _head(piece: Piece) -> tuple[str, int]:
    """Return a text without its digits, and its height to some points."""
    text = re.sub(r"[\d\W]+", " ", piece.text).strip().casefold()
    return text, round(piece.base / _SAME_HEIGHT)


def _body(pieces: Sequence[Piece], repeated: set[tuple[str, int]]) -> list[Piece]:
    """Return the pieces without running heads, page numbers and vertical text."""
    level = [each for each in pieces if each.height < 3 * each.width or len(each.text) < 4]
    zone = set(map(id, _at_edges(level)))
    rest = [
        each
        for each in level
        if not (id(each) in zone and len(level) > 3 and _head(each) in repeated)
    ]
    numbers = {
        id(each)
        for each in _outer_lines(rest)
        if _PAGE_NUMBER.fullmatch(each.text) and not any(_is_beside(each, other) for other in rest)
    }
    numbers |= _line_numbers(rest)
    return [each for each in rest if id(each) not in numbers]


def _line_numbers(pieces: Sequence[Piece]) -> set[int]:
    """Return the identities of line numbers: one below the other, in steps of one or five."""
    edges: dict[int, list[Piece]] = {}
    for piece in pieces:
        if piece.text.isdecimal() and len(piece.text) < _MOST_DIGITS:
            edges.setdefault(round(piece.right / _EVEN), []).append(piece)
    found: set[int] = set()
    for column in edges.values():
        below = sorted(column, key=lambda each: -each.base)
        steps = [int(lower.text) - int(upper.text) for upper, lower in pairwise(below)]
        if len(steps) >= _FEWEST and set(steps) in ({1}, {5}):
            found |= set(map(id, below))
    return found


def _is_beside(piece: Piece, other: Piece) -> bool:
    """Return whether other text stands near a piece, on its line."""
    gap = max(piece.left, other.left) - min(piece.right, other.right)
    return other is not piece and _same_line([piece], other) and gap < _BESIDE


def _outer_lines(pieces: Sequence[Piece]) -> list[Piece]:
    """Return the pieces of the first two and the last two lines."""
    levels = sorted({round(each.bottom / 4) for each in pieces})
    outer = {*levels[:2], *levels[-2:]}
    return [each for each in pieces if round(each.bottom / 4) in outer]


# ------------------------------------------------------------------------- columns


def _columns(pieces: Sequence[Piece], usual: float | None = None) -> list[Column]:
    """Return the columns in reading order. A line across them ends those above it."""
    if not pieces:
        return []
    gutter = _gutter(pieces)
    if gutter is None:
        gutter = usual
    if gutter is None:
        return [_column(pieces)]
    columns: list[Column] = []
    sides: tuple[list[Piece], list[Piece]] = ([], [])
    across: list[Piece] = []
    overhang = _OVERHANG * _width(pieces)

    def end_band() -> None:
        for side in sides:
            columns.extend(_columns(side))
            side.clear()

    for piece in sorted(pieces, key=lambda each: -each.top):
        if piece.left < gutter - overhang and piece.right > gutter + overhang:
            end_band()
            across.append(piece)
            continue
        if across and piece.bottom < min(each.bottom for each in across) - 1:
            columns.append(_column(across))
            across = []
        sides[(piece.left + piece.right) / 2 > gutter].append(piece)
    if across:
        columns.append(_column(across))
    end_band()
    return columns


def _width(pieces: Sequence[Piece]) -> float:
    return max(each.right for each in pieces) - min(each.left for each in pieces)


def _gutter(pieces: Sequence[Piece]) -> float | None:
    """Return the middle of the space between two columns of prose; None if there is none."""
    if len(pieces) < 2 * _FEWEST:
        return None
    left, width = min(each.left for each in pieces), _width(pieces)
    step = max(width / 120, 1.0)
    candidates = [left + index * step for index in range(int(0.2 * 120), int(0.8 * 120))]
    crossing = {at: sum(each.left < at < each.right for each in pieces) for at in candidates}
    best: tuple[float, float] | None = None  # share of aligned lines, place
    for at in sorted(candidates, key=crossing.__getitem__)[:_TRIES]:
        if best and crossing[at] > crossing[best[1]]:
            break
        aligned = _aligned_share(pieces, at, crossing[at])
        if aligned and (best is None or aligned > best[0]):
            best = (aligned, at)
    return best and best[1]


def _aligned_share(pieces: Sequence[Piece], at: float, crossing: int) -> float:
    """Return the share of lines behind a gutter that begin at one place; 0 unless prose stands on
    both sides, at the same height, and more than a few lines between those that cross it.
    """
    sides = (
        [each for each in pieces if each.right <= at + 1],
        [each for each in pieces if each.left >= at - 1],
    )
    edges = (min(each.left for each in pieces), max(each.right for each in pieces))
    lines = [join_lines(side) for side in sides]
    if min(map(len, lines)) < max(_FEWEST, crossing / 2):
        return 0.0
    for side, room in zip(lines, (at - edges[0], edges[1] - at), strict=True):
        if median(each.width for each in side) < _FILLED * room:
            return 0.0
    starts = sorted(each.left for each in lines[1])
    aligned = max(bisect_right(starts, start + _EVEN) - at for at, start in enumerate(starts))
    if aligned < _ALIGNED * len(starts):
        return 0.0
    tops = [max(each.top for each in side) for side in lines]
    bottoms = [min(each.bottom for each in side) for side in lines]
    beside = min(tops) - max(bottoms)
    enough = beside > _FEWEST * median(each.height for each in lines[0])
    return aligned / len(starts) if enough else 0.0


def _column(pieces: Sequence[Piece]) -> Column:
    lines = join_lines(pieces)
    left, right = min(each.left for each in lines), max(each.right for each in lines)
    return Column(tuple(lines), left, right)


def join_lines(pieces: Sequence[Piece]) -> list[Piece]:
    """Join the pieces that stand on one line; return the lines from above to below."""
    rows: list[list[Piece]] = []
    for piece in sorted(pieces, key=lambda each: -each.base):
        if rows and _same_line(rows[-1], piece):
            rows[-1].append(piece)
        else:
            rows.append([piece])
    return [_joined(sorted(row, key=lambda each: each.left)) for row in rows]


def _same_line(row: Sequence[Piece], piece: Piece) -> bool:
    main = max(row, key=lambda each: each.width)
    return abs(main.base - piece.base) < _ROW * max(main.size, piece.size)


def _joined(row: Sequence[Piece]) -> Piece:
    main = max(row, key=lambda each: each.width)
    text = row[0].text
    for before, piece in pairwise(row):
        if _is_note_number(piece, before, main):
            continue
        near = piece.left - before.right < 0.12 * main.size
        text += piece.text if near else f" {piece.text}"
    return replace(
        main,
        left=row[0].left,
        right=max(each.right for each in row),
        bottom=min(each.bottom for each in row),
        top=max(each.top for each in row),
        text=text,
    )


def _is_note_number(piece: Piece, before: Piece, main: Piece) -> bool:
    """Return whether a piece is a raised small number behind a word."""
    raised = piece.base > main.base + 0.2 * main.size and piece.size < 0.85 * main.size
    follows = before.text[-1:].isalpha() or before.text[-1:] in ".,;:!?)”"
    return raised and follows and piece.text.strip(",").isdigit()
