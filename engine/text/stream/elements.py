"""Elements of a reply without its markdown: pieces of text, and the pauses between them."""

from dataclasses import dataclass
from enum import Enum
from typing import Final

from engine.text.piece import Piece
from engine.text.stream.equations import Equation

LONGEST_S: Final = 5.0
"""Seconds of silence that a text can ask for in one place."""


class Block(Enum):
    """The kind of a line, which decides the pause at its end."""

    PARAGRAPH = "paragraph"
    ITEM = "item"
    HEADING = "heading"
    ROW = "row"
    BARRED = "barred"  # a line of text with a bar in it, perhaps the head of a table


TEXT = (Block.PARAGRAPH, Block.BARRED)
"""Lines that may go on in the next one."""


@dataclass(frozen=True)
class Pause:
    """The end of a table cell: a pause, unless a stronger mark follows."""


@dataclass(frozen=True)
class Phrase:
    """Words that stand for something that is not read out."""

    words: tuple[str, ...]
    start: int
    end: int


@dataclass(frozen=True)
class Break:
    """A pause that the text asks for: `mark` goes to the word before, and at least `seconds` pass
    before the next one.
    """

    mark: str
    seconds: float


Element = Piece | Pause | Phrase | Equation | Break
