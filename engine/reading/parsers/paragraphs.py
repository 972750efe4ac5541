"""Lines of columns as paragraphs: hyphens at line ends joined, a paragraph continued over columns
and pages; captions and notes do not interrupt it.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
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
_ENDED: Final = re.compile(r".*[.!?:…][\"'”’)\]]*\s*$", re.DOTALL)
_MOST_HEADING: Final = 150  # characters
_HYPHENS: Final = "-‐"


@dataclass(frozen=True)
class Flowed:
    """A paragraph and the page on which it begins."""

    block: Block
    page: int


@dataclass
class _Run:
    """Lines of one paragraph in one column."""

    lines: list[Piece]
    page: int
    indented: bool = False

    @property
    def size(self) -> float:
        return median(line.size for line in self.lines)

    @property
    def bold(self) -> bool:
        return all(line.bold for line in self.lines)


def flow(pages: Mapping[int, Sequence[Column]]) -> list[Flowed]:
    """Return the paragraphs of pages in reading order."""
    runs = [run for page in sorted(pages) for column in pages[page] for run in _runs(column, page)]
    if not runs:
        return []
    body = _body_size(runs)
    words = _words(runs)
    result: list[Flowed] = []
    held: list[Flowed] = []  # captions and notes that stand inside a paragraph
    for run in runs:
        flowed = Flowed(_block(run, body, words), run.page)
        last = result[-1] if result else None
        open_ended = last is not None and _is_unfinished(last.block)
        if open_ended and last is not None and _continues(flowed.block):
            text = _join(last.block.text, flowed.block.text, words)
            result[-1] = replace(last, block=replace(last.block, text=text))
        elif open_ended and _is_aside(run, flowed.block, body):
            held.append(flowed)
        else:
            result += [*held, flowed]
            held = []
    return [each for each in (*result, *held) if sum(map(str.isalpha, each.block.text)) > 1]


def _body_size(runs: Sequence[_Run]) -> float:
    """Return the size in which most of the text is set."""
    sizes: Counter[float] = Counter()
    for line in (line for run in runs for line in run.lines):
        sizes[round(line.size * 2) / 2] += len(line.text)
    return sizes.most_common(1)[0][0]


def _words(runs: Iterable[_Run]) -> set[str]:
    """Return the words with a hyphen inside a line: these keep theirs at the end of one."""
    lines = (line.text for run in runs for line in run.lines)
    return {word.casefold() for line in lines for word in re.findall(r"\w+[-‐]\w+", line)}


def _runs(column: Column, page: int) -> list[_Run]:
    """Divide the lines of a column at larger gaps, indents, short last lines, and new fonts."""
    lines = column.lines
    gaps = [above.bottom - below.bottom for above, below in pairwise(lines)]
    usual = median(gaps) if gaps else 0.0
    runs = [_Run([lines[0]], page)]
    for (above, below), gap in zip(pairwise(lines), gaps, strict=True):
        if _begins_paragraph(above, below, gap / usual if usual > 0 else 1.0, column, runs[-1]):
            runs.append(_Run([below], page))
        else:
            runs[-1].lines.append(below)
    return runs


def _begins_paragraph(above: Piece, below: Piece, gap: float, column: Column, run: _Run) -> bool:
    if gap > 1.4 or gap < 0 or (above.bold != below.bold and run.bold):
        return True
    if abs(below.size - above.size) > 0.12 * above.size:
        return True
    if _LIST_ITEM.match(below.text) and not above.text.endswith(tuple(_HYPHENS)):
        return bool(_ENDED.fullmatch(above.text)) or below.left <= run.lines[0].left + 1
    size, ended = above.size, bool(_ENDED.fullmatch(above.text))
    first = len(run.lines) == 1
    indent = below.left - min(above.left, column.left if first else above.left)
    if 0.6 * size < indent < 5 * size and (ended or not first):
        return True
    return ended and above.right < column.right - max(2 * size, 0.08 * column.width)


def _block(run: _Run, body: float, words: set[str]) -> Block:
    text = run.lines[0].text
    for line in run.lines[1:]:
        text = _join(text, line.text, words)
    if _is_heading(run, text, body):
        return Block(Kind.HEADING, text, 1 if run.size > 1.3 * body else 2)
    return Block(Kind.TEXT, text)


def _is_heading(run: _Run, text: str, body: float) -> bool:
    if len(text) > _MOST_HEADING or text.endswith((".", ",", ";")) or not text[:1].isalnum():
        return False
    large = run.size > 1.12 * body
    numbered = bool(_NUMBERED.match(text)) and run.size >= 0.95 * body and len(text) < 80
    return (large or run.bold or numbered) and not _CAPTION.match(text)


def _is_unfinished(block: Block) -> bool:
    return block.kind is Kind.TEXT and not _ENDED.fullmatch(block.text)


def _continues(block: Block) -> bool:
    """Return whether a paragraph may be the rest of the one before."""
    return block.kind is Kind.TEXT and bool(re.match(r"[a-zà-ÿ(,;]", block.text))


def _is_aside(run: _Run, block: Block, body: float) -> bool:
    return bool(_CAPTION.match(block.text)) or run.size < 0.93 * body


def _join(text: str, more: str, words: set[str]) -> str:
    """Join two lines; a word that was divided at the end of the first one becomes whole."""
    if not text.endswith(tuple(_HYPHENS)) or len(text) < 2 or not text[-2].isalpha():
        return f"{text} {more}"
    if not more[:1].islower():
        return text + more
    head, tail = re.findall(r"\w+", text)[-1], re.match(r"\w+", more)
    compound = f"{head}-{tail[0] if tail else ''}".casefold()
    return text + more if compound in words else text[:-1] + more
