"""Places of a reply from which it can be read without what stands before them.

Invariant: read from there, with its lead, the rest gives the same paragraphs as in the whole.
"""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from markdown_it.token import Token

_LEAD_LINES = {"fence": 1, "table_open": 2}
_CONTAINERS = ("bullet_list_open", "ordered_list_open", "blockquote_open")


@dataclass(frozen=True)
class Start:
    """`place`: character of the reply. `lead`: what has to be read first, such as the line that
    opens a block of code.
    """

    place: int = 0
    paragraphs: int = 0  # that stand before it
    lead: str = ""
    rows: int = 0  # of a table, that stand before it; 0 = it is not in a table
    continues: bool = False  # in the middle of a paragraph


class Starts:
    """Collects the starts of one text, which begins with the lead of `first`: outermost blocks,
    items of outermost lists, parts of quotations, rows of tables, pieces of long paragraphs.
    """

    def __init__(self, source: str, lines: list[int], first: Start) -> None:
        self.found: list[Start] = []
        self.lead = ""  # of the outermost block that is read
        self._source, self._lines, self._first = source, lines, first
        self._outer = ""  # its kind

    @property
    def is_in_table(self) -> bool:
        """Whether an outermost table is read."""
        return self._outer == "table_open"

    @property
    def is_in_long_one(self) -> bool:
        """Whether an outermost block is read that may be in pieces."""
        return self._outer in ("paragraph_open", "fence")

    def enter(self, token: "Token", first: int, last: int, paragraphs: int) -> None:
        """A block begins, from line `first` to before `last`, after this many paragraphs."""
        if token.nesting < 0 or token.type == "inline":
            return
        if token.level == 0:
            self._outer = token.type
            head = min(first + _LEAD_LINES.get(token.type, 0), last)
            self.lead = self._source[self._lines[first] : self._lines[head]]
            if not self.found:  # what `first` is in the middle of
                self.found.append(replace(self._first, paragraphs=0))
            else:
                self.add(self._lines[first], paragraphs)
        elif token.level == 1 and self._outer in _CONTAINERS:
            self.add(self._lines[first], paragraphs)

    def add(
        self, at: int, paragraphs: int, *, lead: str = "", rows: int = 0, continues: bool = False
    ) -> None:
        """`at`: character of the text that is read."""
        place = at - len(self._first.lead) + self._first.place
        if place > self.found[-1].place:
            self.found.append(Start(place, paragraphs, lead, rows, continues))
