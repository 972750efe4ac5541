"""How the conversation looks: the formats of its blocks, and the bubbles painted behind them.

Invariant: a bubble is painted from the lines that Qt laid out, so it always fits its text; nothing
here changes the document.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Any

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import (
    QFont,
    QFontDatabase,
    QPainter,
    QPen,
    QTextBlock,
    QTextBlockFormat,
    QTextCharFormat,
    QTextFormat,
    QTextLine,
    QTextOption,
)

from app.conversation.paragraph import Paragraph, Run, Shape
from app.look.theme import Theme, scaled

PAD_X = 15.0  # between a bubble's edge and its text, in logical pixels, like all sizes here
PAD_Y = 9.0
GAP = 10.0  # between the bubbles of one turn
TURN_GAP = 26.0  # leaves room for the tools of a reply
RADIUS = 16.0
DOOR = 32.0  # height of a button below a reply; its line of text is half as high
INDENT = 24.0  # of a list's item, a quotation
_BAR = 3.0  # beside a quotation
_CODE_PAD = 6.0
_KIND = QTextFormat.Property.UserProperty + 1
_SHAPE = QTextFormat.Property.UserProperty + 2
_QUOTED = QTextFormat.Property.UserProperty + 3
_HEADINGS = {1: 1.3, 2: 1.2, 3: 1.1}  # times the size of the text


class Kind(Enum):
    """What a block of the conversation is."""

    SPACER = 0
    SAID = 1
    PARTIAL = 2
    REPLY = 3
    CAPTION = 4
    DOOR = 5  # a caption, perhaps empty, with room for a button
    MORE = 6  # the next paragraph of a reply, in the same bubble


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
        case Kind.MORE:
            result.setTopMargin(PAD_Y + 1)
            result.setRightMargin(column * 0.08 + PAD_X)
        case Kind.CAPTION:
            result.setTopMargin(PAD_Y + 5)
        case Kind.DOOR:
            result.setTopMargin(PAD_Y + GAP + DOOR / 4)
            result.setBottomMargin(DOOR / 4)
        case Kind.SPACER:
            result.setLineHeight(1.0, QTextBlockFormat.LineHeightTypes.FixedHeight.value)
    return result


def paragraph_format(kind: Kind, column: float, paragraph: Paragraph) -> QTextBlockFormat:
    """The same for a paragraph of a reply, REPLY or MORE."""
    result = block_format(kind, column, 0.0)
    result.setProperty(_SHAPE, paragraph.shape.value)
    result.setProperty(_QUOTED, paragraph.quoted)
    steps = paragraph.depth + paragraph.quoted
    result.setLeftMargin(PAD_X + INDENT * steps)
    if paragraph.marked:
        result.setTextIndent(-INDENT)
        result.setTabPositions([QTextOption.Tab(INDENT, QTextOption.TabType.LeftTab)])
    if paragraph.shape is Shape.CODE:
        result.setLeftMargin(result.leftMargin() + _CODE_PAD)
        result.setTopMargin(result.topMargin() + _CODE_PAD)
        result.setBottomMargin(_CODE_PAD)
    elif kind is Kind.MORE and paragraph.shape is Shape.HEADING:
        result.setTopMargin(result.topMargin() * 1.6)
    elif kind is Kind.MORE and paragraph.marked:
        result.setTopMargin(result.topMargin() * 0.5)
    return result


def paragraph_char_format(paragraph: Paragraph, theme: Theme, font: QFont) -> QTextCharFormat:
    """Font and colour of a paragraph of a reply, where no run says otherwise."""
    result = char_format(Kind.REPLY, theme, font)
    match paragraph.shape:
        case Shape.CODE:
            result.setFont(_code_font(font))
        case Shape.HEADING:
            result.setFont(scaled(font, _HEADINGS.get(paragraph.level, 1.0), strong=True))
        case Shape.RULE:
            result.setForeground(theme.colour("muted"))
        case Shape.TEXT:
            pass
    return result


def run_format(run: Run, base: QTextCharFormat, theme: Theme) -> QTextCharFormat:
    """The same for a run of the paragraph."""
    result = QTextCharFormat(base)
    font = _code_font(base.font()) if run.style.code else QFont(base.font())
    if run.style.strong:
        font.setWeight(QFont.Weight.DemiBold)
    font.setItalic(run.style.slanted)
    result.setFont(font)
    if run.style.code:
        result.setBackground(theme.colour("raised"))
    if run.style.aside:
        result.setForeground(theme.colour("muted"))
    return result


def _code_font(font: QFont) -> QFont:
    result = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)
    result.setPointSizeF(font.pointSizeF() * 0.92)
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
        case Kind.SAID | Kind.REPLY | Kind.MORE:
            result.setFont(font)
            result.setForeground(theme.colour("text"))
    return result


def unheard_format(theme: Theme) -> QTextCharFormat:
    """For words that are not spoken yet, or never will be."""
    result = QTextCharFormat()
    result.setForeground(theme.colour("muted"))
    return result


def text_rect(block: QTextBlock) -> QRectF:
    """The rectangle that its lines really fill, in document coordinates."""
    layout = block.layout()
    rect = QRectF()
    for number in range(layout.lineCount()):
        rect = rect.united(layout.lineAt(number).naturalTextRect())
    return rect.translated(layout.position())


def paint_bubble(painter: QPainter, block: QTextBlock, theme: Theme) -> None:
    """The background of one block; the painter is in document coordinates."""
    kind = kind_of(block)
    if kind not in (Kind.SAID, Kind.PARTIAL, Kind.REPLY) or block.length() <= 1:
        return
    rect = text_rect(block)
    if kind is Kind.REPLY:
        rect = bubble_rect(block)
    else:  # the person's bubbles end where the column ends
        line = block.layout().lineAt(0)
        rect.setRight(block.layout().position().x() + line.x() + line.width())
        rect.adjust(-PAD_X, -PAD_Y, PAD_X, PAD_Y)
    match kind:
        case Kind.REPLY:
            painter.setPen(QPen(theme.colour("outline"), 1.0))
            painter.setBrush(theme.colour("surface"))
            painter.drawRoundedRect(rect, RADIUS, RADIUS)
            _paint_grounds(painter, block, rect, theme)
            return
        case Kind.PARTIAL:
            painter.setPen(QPen(theme.colour("control"), 1.0, Qt.PenStyle.DashLine))
            painter.setBrush(Qt.BrushStyle.NoBrush)
        case _:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(theme.colour("bubble"))
    painter.drawRoundedRect(rect, RADIUS, RADIUS)


def reply_blocks(block: QTextBlock) -> Iterator[QTextBlock]:
    """The blocks of a reply, from its first one on."""
    yield block
    block = block.next()
    while block.isValid() and kind_of(block) is Kind.MORE:
        yield block
        block = block.next()


def bubble_rect(block: QTextBlock) -> QRectF:
    """The bubble of the reply that begins with this block, in document coordinates."""
    rect = QRectF()
    for each in reply_blocks(block):
        around = text_rect(each)
        if _is_code(each):
            around.adjust(-_CODE_PAD, -_CODE_PAD, _CODE_PAD, _CODE_PAD)
        around.setLeft(block.layout().position().x() + PAD_X)
        rect = rect.united(around)
    return rect.adjusted(-PAD_X, -PAD_Y, PAD_X, PAD_Y)


def _is_code(block: QTextBlock) -> bool:
    return block.blockFormat().stringProperty(_SHAPE) == Shape.CODE.value


def _paint_grounds(painter: QPainter, block: QTextBlock, bubble: QRectF, theme: Theme) -> None:
    """Paint behind the code in a reply, and the bar beside quotations."""
    painter.setPen(Qt.PenStyle.NoPen)
    for each in reply_blocks(block):
        rect = text_rect(each)
        if _is_code(each):
            painter.setBrush(theme.colour("raised"))
            rect.setRight(bubble.right() - PAD_X)
            pad = _CODE_PAD
            painter.drawRoundedRect(rect.adjusted(-pad, -pad, 0, pad), pad, pad)
        if each.blockFormat().boolProperty(_QUOTED):
            painter.setBrush(theme.colour("control"))
            left = bubble.left() + PAD_X
            bar = QRectF(left, rect.top(), _BAR, rect.height())
            painter.drawRoundedRect(bar, _BAR / 2, _BAR / 2)


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
    """PySide returns (x, position) here, although its stubs say otherwise."""
    found: Any = line.cursorToX(position)
    return float(found[0])
