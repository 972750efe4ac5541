"""Paint the bubbles behind the conversation.

Invariant: only visible blocks are examined, however long a reply is.
"""

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QPainter, QPen, QTextBlock

from app.conversation import bubbles
from app.conversation.bubbles import Kind
from app.conversation.document import ConversationDocument
from app.look.theme import Theme

_RADIUS = 16.0
_BAR = 3.0  # beside a quotation
_MARGIN = 40  # a bubble reaches a little above and below its text


def paint_bubbles(
    painter: QPainter,
    document: ConversationDocument,
    first: QTextBlock,
    bottom: float,
    theme: Theme,
) -> None:
    """Paint the bubbles from block `first` down to the y coordinate `bottom`. The painter uses
    document coordinates.
    """
    layout = document.documentLayout()
    block = first.previous() if first.previous().isValid() else first
    painted, bubble = None, QRectF()
    while block.isValid() and layout.blockBoundingRect(block).top() < bottom + _MARGIN:
        match bubbles.kind_of(block):
            case Kind.SAID | Kind.PARTIAL:
                _said(painter, block, theme)
            case Kind.REPLY | Kind.MORE:
                exchange = document.exchange_with(block)
                if exchange is not None and exchange is not painted:
                    painted, bubble = exchange, document.bubble_rect(exchange)
                    painter.setPen(QPen(theme.colour("outline"), 1.0))
                    painter.setBrush(theme.colour("surface"))
                    painter.drawRoundedRect(bubble, _RADIUS, _RADIUS)
                _ground(painter, block, bubble, theme)
        block = block.next()


def _said(painter: QPainter, block: QTextBlock, theme: Theme) -> None:
    """Paint the bubble of a question; the painter is in document coordinates."""
    if block.length() <= 1:
        return
    rect = bubbles.text_rect(block)
    line = block.layout().lineAt(0)  # the person's bubbles end where the column ends
    rect.setRight(block.layout().position().x() + line.x() + line.width())
    rect.adjust(-bubbles.PAD_X, -bubbles.PAD_Y, bubbles.PAD_X, bubbles.PAD_Y)
    if bubbles.kind_of(block) is Kind.PARTIAL:
        painter.setPen(QPen(theme.colour("control"), 1.0, Qt.PenStyle.DashLine))
        painter.setBrush(Qt.BrushStyle.NoBrush)
    else:
        painter.setPen(QPen(theme.colour("bubble_outline"), 1.0))
        painter.setBrush(theme.colour("bubble"))
    painter.drawRoundedRect(rect, _RADIUS, _RADIUS)


def _ground(painter: QPainter, block: QTextBlock, bubble: QRectF, theme: Theme) -> None:
    """Paint the background of code, or the bar beside a quotation."""
    painter.setPen(Qt.PenStyle.NoPen)
    rect = bubbles.text_rect(block)
    if bubbles.is_code(block):
        painter.setBrush(theme.colour("raised"))
        rect.setRight(bubble.right() - bubbles.PAD_X)
        pad = bubbles.CODE_PAD
        painter.drawRoundedRect(rect.adjusted(-pad, -pad, 0, pad), pad, pad)
    if block.blockFormat().boolProperty(bubbles.QUOTED):
        painter.setBrush(theme.colour("control"))
        bar = QRectF(bubble.left() + bubbles.PAD_X, rect.top(), _BAR, rect.height())
        painter.drawRoundedRect(bar, _BAR / 2, _BAR / 2)
