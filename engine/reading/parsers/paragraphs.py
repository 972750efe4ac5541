"""Lines of columns as paragraphs: hyphens at line ends joined, a paragraph continued over columns
and pages; captions and notes do not interrupt it.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import median
from typing import Final

from engine.reading.parsers.blocks import Block, Kind
from engine.reading.parsers.page_layout import Column, Piece

_CAPTION: Final = re.compile(
    r"(?:fig(?:ure)?|table|abb(?:ildung)?|tabelle|tab|algorithm|listing)\.?\s*\d", re.IGNORECASE
)
_LIST_ITEM: Final = re.compile(r"[•▪●◦–—-]\s|\[\d+\]\s|\(?(?:\d{1,2}|[a-z])[.)]\s")
_NUMBERED: Final = re.compile(r"(?:\d{1,2}(?:\.\d{1,2}){0,3}\.?|[IVX]{1,5}\.|[A-Z]\.)\s+[A-Z]")
_NUMBER: Final = re.compile(r"[\W\d_]*(?:[ivxlc]+[\W\d_]*)?")
_ENDED: Final = re.compile(r"[.!?:…][\"'”’)\]]*\s*$")
_HYPHEN: Final = re.compile(r"[^\W\d_][-‐]$")
_MOST_HEADING: Final = 150  # characters


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
