"""The look of the conversation: the formats of its blocks, and the places of the bubbles behind
them.

Invariant: a bubble is measured by the lines that Qt laid out, so it always fits its text; nothing
here changes the document.
"""

from enum import Enum
from typing import Any

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import (
    QFont,
    QFontDatabase,
    QTextBlock,
    QTextBlockFormat,
    QTextCharFormat,
    QTextCursor,
    QTextFormat,
    QTextLength,
    QTextLine,
    QTextOption,
    QTextTable,
    QTextTableFormat,
)

from app.conversation.markdown import Cell, Paragraph, ParagraphShape, Run
from app.conversation.transcript import Span
from app.look.theme import Theme, scaled

PAD_X = 15.0  # between a bubble's edge and its text, in logical pixels, like all sizes here
PAD_Y = 9.0
GAP = 10.0  # between the bubbles of one turn
TURN_GAP = 32.0  # leaves room for the tools of a reply
INDENT = 24.0  # of a list's item, a quotation
CODE_PAD = 6.0
_CELL_PAD = 6.0
_REPLY_RIGHT = 64.0  # between the right end of a reply's text and that of the column
_ALIGNMENTS = {
    "": Qt.AlignmentFlag.AlignLeading,
    "left": Qt.AlignmentFlag.AlignLeft,
    "center": Qt.AlignmentFlag.AlignHCenter,
    "right": Qt.AlignmentFlag.AlignRight,
}
_KIND = QTextFormat.Property.UserProperty + 1
_SHAPE = QTextFormat.Property.UserProperty + 2
QUOTED = QTextFormat.Property.UserProperty + 3
_HEADINGS = {1: 1.3, 2: 1.2, 3: 1.1}  # times the size of the text


class Kind(Enum):
    """The kind of a block of the conversation."""

    SPACER = 0
    SAID = 1
    PARTIAL = 2
    REPLY = 3
    CAPTION = 4
    MORE = 5  # the next paragraph of a reply, in the same bubble


def kind_of(block: QTextBlock) -> Kind:
    return Kind(block.blockFormat().intProperty(_KIND))


def block_format(kind: Kind, column: float = 0.0, text_width: float = 0.0) -> QTextBlockFormat:
    """Return the margins of a block in a column of this width. The user's bubbles are aligned to
    the right edge and are as wide as their text (`text_width`: its width on one line).
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
            result.setRightMargin(_REPLY_RIGHT)
        case Kind.MORE:
            result.setTopMargin(PAD_Y + 1)
            result.setRightMargin(_REPLY_RIGHT)
        case Kind.CAPTION:
            result.setTopMargin(PAD_Y + 5)
        case Kind.SPACER:
            result.setLineHeight(1.0, QTextBlockFormat.LineHeightTypes.FixedHeight.value)
    return result


def paragraph_format(kind: Kind, paragraph: Paragraph, *, alone: bool) -> QTextBlockFormat:
    """Return the margins of a reply's paragraph. `alone`: there is no question above the reply."""
    result = block_format(kind)
    if alone and kind is Kind.REPLY:
        result.setTopMargin(TURN_GAP + PAD_Y * 2)
    result.setProperty(_SHAPE, paragraph.shape.value)
    result.setProperty(QUOTED, paragraph.quoted)
    if paragraph.cell is not None or paragraph.shape is ParagraphShape.AFTER:
        return _table_block_format(result, paragraph)
    steps = paragraph.depth + paragraph.quoted
    result.setLeftMargin(PAD_X + INDENT * steps)
    if paragraph.marked:
        result.setTextIndent(-INDENT)
        result.setTabPositions([QTextOption.Tab(INDENT, QTextOption.TabType.LeftTab)])
    if paragraph.shape is ParagraphShape.CODE:
        result.setLeftMargin(result.leftMargin() + CODE_PAD)
        result.setTopMargin(result.topMargin() + CODE_PAD)
        result.setBottomMargin(CODE_PAD)
    elif kind is Kind.MORE and paragraph.shape is ParagraphShape.HEADING:
        result.setTopMargin(result.topMargin() * 1.6)
    elif kind is Kind.MORE and paragraph.marked:
        result.setTopMargin(result.topMargin() * 0.5)
    if paragraph.continues:
        result.setTopMargin(0.0)
    return result


def _table_block_format(result: QTextBlockFormat, paragraph: Paragraph) -> QTextBlockFormat:
    """Set the margins of a table cell, or of the block after a table."""
    for margin in (result.setTopMargin, result.setLeftMargin, result.setRightMargin):
        margin(0.0)
    if paragraph.cell is None:
        result.setLineHeight(1.0, QTextBlockFormat.LineHeightTypes.FixedHeight.value)
    else:
        result.setAlignment(_ALIGNMENTS[paragraph.cell.align])
    return result


def table_format(first: Cell, theme: Theme) -> QTextTableFormat:
    """Return the format of the table that begins with cell `first`. The table is as narrow as its
    words allow. A part of a longer table is as wide as the text, with the same column widths in
    every part.
    """
    result = QTextTableFormat()
    result.setHeaderRowCount(1)
    result.setBorder(1.0)
    result.setBorderCollapse(True)
    result.setBorderStyle(QTextTableFormat.BorderStyle.BorderStyle_Solid)
    result.setBorderBrush(theme.colour("control"))
    result.setCellSpacing(0.0)
    result.setCellPadding(_CELL_PAD)
    result.setTopMargin(0.0 if first.row else PAD_Y + 1)
    result.setBottomMargin(1.0)
    result.setLeftMargin(PAD_X)
    result.setRightMargin(_REPLY_RIGHT)
    if first.weights:
        kind = QTextLength.Type.PercentageLength
        result.setWidth(QTextLength(kind, 100.0))
        shares = [QTextLength(kind, 100.0 * each / sum(first.weights)) for each in first.weights]
        result.setColumnWidthConstraints(shares)
    return result


def paragraph_char_format(paragraph: Paragraph, theme: Theme, font: QFont) -> QTextCharFormat:
    """Return font and colour of a reply's paragraph outside its runs."""
    result = char_format(Kind.REPLY, theme, font)
    match paragraph.shape:
        case ParagraphShape.CODE:
            result.setFont(_code_font(font))
        case ParagraphShape.HEADING:
            result.setFont(scaled(font, _HEADINGS.get(paragraph.level, 1.0), strong=True))
        case ParagraphShape.RULE:
            result.setForeground(theme.colour("muted"))
        case ParagraphShape.AFTER:
            result.setFont(scaled(font, 0.1))
        case ParagraphShape.TEXT if paragraph.cell is not None and paragraph.cell.row == 0:
            result.setFont(scaled(font, 1.0, strong=True))
        case ParagraphShape.TEXT:
            pass
    return result


def run_format(run: Run, base: QTextCharFormat, theme: Theme) -> QTextCharFormat:
    """Return font and colour of a run of a paragraph."""
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
    """Return font and colour of a block's text."""
    result = QTextCharFormat()
    match kind:
        case Kind.PARTIAL:
            result.setFont(font)
            result.setForeground(theme.colour("muted"))
        case Kind.CAPTION:
            result.setFont(scaled(font, 0.82))
            result.setForeground(theme.colour("muted"))
        case Kind.SPACER:
            result.setFont(scaled(font, 0.1))
        case Kind.SAID | Kind.REPLY | Kind.MORE:
            result.setFont(font)
            result.setForeground(theme.colour("text"))
    return result


def unheard_format(theme: Theme) -> QTextCharFormat:
    """Return the format of words that are not spoken yet, or will not be spoken."""
    result = QTextCharFormat()
    result.setForeground(theme.colour("muted"))
    return result


def text_rect(block: QTextBlock) -> QRectF:
    """Return the bounding rectangle of the block's lines, in document coordinates."""
    at, layout = _top_left(block), block.layout()
    rect = QRectF()
    for number in range(layout.lineCount()):
        rect = rect.united(layout.lineAt(number).naturalTextRect())
    return rect.translated(at)


def line_top(block: QTextBlock, position: int) -> float:
    """The top of the line that shows a position of the block, in document coordinates."""
    at, line = _top_left(block), block.layout().lineForTextPosition(position)
    return at.y() + (line.y() if line.isValid() else 0.0)


def _top_left(block: QTextBlock) -> QPointF:
    """Return the block's origin in the document. Asking the layout makes Qt lay the block out; the
    block's own position would be relative to its table cell.
    """
    return block.document().documentLayout().blockBoundingRect(block).topLeft()


def right_of(block: QTextBlock) -> float:
    """The right end of a block of a reply, in document coordinates."""
    if QTextCursor(block).currentTable() is not None:
        left, line = _top_left(block).x(), block.layout().lineAt(0)
        return left + line.x() + line.width() + _CELL_PAD
    if _table_before(block) is not None:
        return 0.0
    return text_rect(block).right() + (CODE_PAD if is_code(block) else 0.0)


def bubble_around(first: QTextBlock, last: QTextBlock, right: float) -> QRectF:
    """The bubble of a reply that reaches this far to the right, in document coordinates."""
    top, bottom = text_rect(first), text_rect(last)
    if is_code(first):
        top.adjust(0, -CODE_PAD, 0, 0)
    if is_code(last):
        bottom.adjust(0, 0, 0, CODE_PAD)
    table = _table_before(last)
    if table is not None:
        ends = (
            table.cellAt(table.rows() - 1, at).lastCursorPosition() for at in range(table.columns())
        )
        low = max(text_rect(end.block()).bottom() for end in ends)
        bottom = QRectF(0, low, 0, _CELL_PAD)
    left = first.document().rootFrame().frameFormat().leftMargin() + PAD_X
    rect = QRectF(QPointF(left, top.top()), QPointF(right, bottom.bottom()))
    return rect.adjusted(-PAD_X, -PAD_Y, PAD_X, PAD_Y)


def _table_before(block: QTextBlock) -> QTextTable | None:
    """Return the table above the block that Qt puts beside it; None if there is none."""
    ends = block.blockFormat().stringProperty(_SHAPE) == ParagraphShape.AFTER.value
    return QTextCursor(block.previous()).currentTable() if ends else None


def is_code(block: QTextBlock) -> bool:
    return block.blockFormat().stringProperty(_SHAPE) == ParagraphShape.CODE.value


def words_rects(block: QTextBlock, words: Span) -> list[QRectF]:
    """One rectangle per line that these words touch, in document coordinates. `words` counts UTF-16
    units from the start of the block.
    """
    at, layout = _top_left(block), block.layout()
    rects = []
    for number in range(layout.lineCount()):
        line = layout.lineAt(number)
        start = max(words.start, line.textStart())
        end = min(words.end, line.textStart() + line.textLength())
        if start < end:
            left, right = _x(line, start), _x(line, end)
            rect = QRectF(QPointF(min(left, right), line.y()), QPointF(max(left, right), line.y()))
            rect.setHeight(line.ascent() + line.descent())
            rects.append(rect.translated(at))
    return rects


def _x(line: QTextLine, position: int) -> float:
    """PySide returns (x, position) here, although its stubs say otherwise."""
    found: Any = line.cursorToX(position)
    return float(found[0])
