"""Which blocks of the document show an exchange.

Invariant: no Qt here; the blocks follow each other without a gap.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from operator import attrgetter

from app.conversation.reply.markup import Markup
from app.conversation.reply.paragraph import Paragraph
from app.conversation.transcript import Exchange, Span


@dataclass
class Blocks:
    """Which blocks an exchange has, with the text each shows; None = no such block."""

    exchange: Exchange
    first_block: int
    said: str | None = None
    reply: str | None = None
    markup: Markup = field(default_factory=Markup)
    shown: int = 0  # paragraphs of the reply that have a block
    rights: list[float] = field(default_factory=list)  # how far those up to each one reach
    caption: str | None = None

    @property
    def reply_block(self) -> int:
        return self.first_block + (self.said is not None)

    @property
    def caption_block(self) -> int:
        return self.reply_block + self.shown

    @property
    def end_block(self) -> int:
        return self.caption_block + (self.caption is not None)

    def table_before(self, at: int) -> tuple[int, list[int]]:
        """Where the table that paragraph `at` continues begins, and how much room each of its
        columns needs beside the others."""
        paragraphs, begin = self.markup.paragraphs, at - 1
        while (cell := paragraphs[begin].cell) is None or cell.row or cell.column:
            begin -= 1
        part = cells_from(paragraphs, begin)
        columns = columns_of(part)
        lengths = [[len(each.text) for each in part[n::columns]] for n in range(columns)]
        return begin, [max(3, *each) for each in lengths]

    def words(self, span: Span) -> Iterator[tuple[int, Span]]:
        """The numbers of the paragraphs that show a part of this span of the reply, with the
        characters of each."""
        paragraphs = self.markup.paragraphs
        at = max(0, bisect_left(paragraphs, span.start, key=attrgetter("place")) - 1)
        while at < self.shown and paragraphs[at].place < span.end:
            shown = paragraphs[at].shown(span)
            if shown.start < shown.end:
                yield at, shown
            at += 1


class Places:
    """The blocks of all exchanges, in the order in which they stand."""

    def __init__(self) -> None:
        self.all: list[Blocks] = []

    def find(self, exchange: Exchange) -> Blocks | None:
        """None = nothing is shown of it."""
        for place in reversed(self.all):  # events are nearly always about the last two
            if place.exchange is exchange:
                return place
        return None

    def at(self, number: int) -> Blocks | None:
        """The one whose blocks include this one; None = none."""
        at = bisect_right(self.all, number, key=attrgetter("first_block")) - 1
        return self.all[at] if at >= 0 and number < self.all[at].end_block else None

    def of(self, exchange: Exchange) -> Blocks:
        """The same; a new exchange gets its place at the end."""
        place = self.find(exchange)
        if place is None:
            place = Blocks(exchange, self.all[-1].end_block if self.all else 1)
            self.all.append(place)
        return place

    def move_later(self, place: Blocks, blocks: int) -> None:
        """Shift those after this one by the number of blocks that were added or removed."""
        for later in reversed(self.all):
            if later is place:
                break
            later.first_block += blocks


def alike(old: Sequence[Paragraph | None], new: Sequence[Paragraph]) -> int:
    """How many of the old blocks can show the new paragraphs; None = a blank block."""
    pairs = zip(old, new, strict=False)
    unlike = (at for at, (a, b) in enumerate(pairs) if a is not None and a.slot != b.slot)
    return next(unlike, min(len(old), len(new)))


def cells_from(paragraphs: Sequence[Paragraph], at: int) -> list[Paragraph]:
    """The cells from paragraph `at` to the end of their table."""
    cells = []
    while paragraphs[at].cell is not None:
        cells.append(paragraphs[at])
        at += 1
    return cells


def columns_of(cells: Sequence[Paragraph]) -> int:
    """How many there are in the first row."""
    rows = [each.cell.row for each in cells if each.cell is not None]
    return rows.count(rows[0])
