"""How the conversation looks: formats of its blocks, and the bubbles painted behind them.

Invariant: a bubble is painted from the lines Qt laid out, so it always fits its text; nothing here
changes the document.
"""

from dataclasses import dataclass
from enum import Enum
from typing import Any

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import (
    QFont,
    QPainter,
    QPen,
    QTextBlock,
    QTextBlockFormat,
    QTextCharFormat,
    QTextFormat,
    QTextLine,
)

from app.look.theme import Theme, scaled

PAD_X = 15.0  # between a bubble's edge and its text, in logical pixels, like all sizes here
PAD_Y = 9.0
GAP = 10.0  # between the bubbles of one turn
TURN_GAP = 22.0
RADIUS = 16.0
DOOR = 32.0  # height of a button below a reply; its line of text is half as high
_KIND = QTextFormat.Property.UserProperty + 1


class Kind(Enum):
    """What a block of the conversation is."""

    SPACER = 0
    SAID = 1
    PARTIAL = 2
    REPLY = 3
    CAPTION = 4
    DOOR = 5  # a caption, empty perhaps, with room for a button


@dataclass(frozen=True)
class Words:
    """A stretch of one block, in the document's UTF-16 units, counted from the block's start."""

    start: int
    end: int


def kind_of(block: QTextBlock) -> Kind:
    return Kind(block.blockFormat().intProperty(_KIND))


def block_format(kind: Kind, column: float, text_width: float) -> QTextBlockFormat:
    """Margins of a block in a column this wide; the person's bubbles hug their text on the right.

    `text_width` is what the text would need on one line.
    """
    result = QTextBlockFormat()
    result.setProperty(_KIND, kind.value)
    result.setLineHeight(125.0, QTextBlockFormat.LineHeightTypes.ProportionalHeight.value)
    result.setLeftMargin(PAD_X)
    result.setRightMargin(PAD_X)
    match kind:
        case Kind.SAID | Kind.PARTIAL:
            result.setTopMargin(TURN_GAP + PAD_Y * 2)
            room = column - PAD_X
            indent = max(column * 0.16 + PAD_X, room - text_width - 1.0)
            result.setLeftMargin(indent)
        case Kind.REPLY:
            result.setTopMargin(GAP + PAD_Y * 2)
            result.setRightMargin(column * 0.08 + PAD_X)
        case Kind.CAPTION:
            result.setTopMargin(PAD_Y + 5)
        case Kind.DOOR:
            result.setTopMargin(PAD_Y + GAP + DOOR / 4)
            result.setBottomMargin(DOOR / 4)
        case Kind.SPACER:
            result.setLineHeight(1.0, QTextBlockFormat.LineHeightTypes.FixedHeight.value)
    return result


def char_format(kind: Kind, theme: Theme, font: QFont) -> QTextCharFormat:
    """Font and colour of a block's text."""
    result = QTextCharFormat()
    match kind:
        case Kind.PARTIAL:
            result.setFont(font)
            result.setForeground(theme.colour("muted"))
        case Kind.CAPTION | Kind.DOOR:
            result.setFont(scaled(font, 0.82))
            result.setForeground(theme.colour("muted"))
        case Kind.SPACER:
            result.setFont(scaled(font, 0.1))
        case Kind.SAID | Kind.REPLY:
            result.setFont(font)
            result.setForeground(theme.colour("text"))
    return result


def unheard_format(theme: Theme) -> QTextCharFormat:
    """For words that will be or would have been spoken."""
    result = QTextCharFormat()
    result.setForeground(theme.colour("muted"))
    return result


def text_rect(block: QTextBlock) -> QRectF:
    """The rectangle its lines really fill, in document coordinates."""
    layout = block.layout()
    rect = QRectF()
    for number in range(layout.lineCount()):
        rect = rect.united(layout.lineAt(number).naturalTextRect())
    return rect.translated(layout.position())


def paint_bubble(painter: QPainter, block: QTextBlock, theme: Theme) -> None:
    """The ground of one block; the painter is in document coordinates."""
    kind = kind_of(block)
    if kind in (Kind.SPACER, Kind.CAPTION, Kind.DOOR) or block.length() <= 1:
        return
    rect = text_rect(block)
    if kind is not Kind.REPLY:  # the person's bubbles end where the column ends
        line = block.layout().lineAt(0)
        rect.setRight(block.layout().position().x() + line.x() + line.width())
    rect.adjust(-PAD_X, -PAD_Y, PAD_X, PAD_Y)
    match kind:
        case Kind.REPLY:
            painter.setPen(QPen(theme.colour("outline"), 1.0))
            painter.setBrush(theme.colour("surface"))
        case Kind.PARTIAL:
            painter.setPen(QPen(theme.colour("control"), 1.0, Qt.PenStyle.DashLine))
            painter.setBrush(Qt.BrushStyle.NoBrush)
        case _:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(theme.colour("bubble"))
    painter.drawRoundedRect(rect, RADIUS, RADIUS)


def words_rects(block: QTextBlock, words: Words) -> list[QRectF]:
    """One rectangle per line that these words touch, in document coordinates."""
    layout = block.layout()
    rects = []
    for number in range(layout.lineCount()):
        line = layout.lineAt(number)
        start = max(words.start, line.textStart())
        end = min(words.end, line.textStart() + line.textLength())
        if start < end:
            left, right = _x(line, start), _x(line, end)
            rect = QRectF(QPointF(min(left, right), line.y()), QPointF(max(left, right), line.y()))
            rect.setHeight(line.ascent() + line.descent())
            rects.append(rect.translated(layout.position()))
    return rects


def _x(line: QTextLine, position: int) -> float:
    """PySide returns (x, position) here, its stubs say otherwise."""
    found: Any = line.cursorToX(position)
    return float(found[0])
