"""A line or paragraph of text in the window."""

from collections.abc import Sequence

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QLabel, QWidget

from app.look.plain_text import plain

_LEAST = 40  # logical pixels; the narrowest that a line may get


class Label(QLabel):
    """Shows any text as it is written: markup is not interpreted and nothing is loaded."""

    def __init__(self, text: str, parent: QWidget) -> None:
        super().__init__(parent)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setText(text)

    def setText(self, text: str) -> None:
        super().setText(plain(text))


class FoldingLabel(Label):
    """Wraps if there is room for several lines; otherwise it is one line, shortened at its end."""

    def __init__(self, text: str, parent: QWidget) -> None:
        super().__init__(text, parent)
        self.be_one_line(False)

    def be_one_line(self, on: bool) -> None:
        self.setWordWrap(not on)
        flags = Qt.TextInteractionFlag
        self.setTextInteractionFlags(flags.NoTextInteraction if on else flags.TextSelectableByMouse)

    def minimumSizeHint(self) -> QSize:
        least = super().minimumSizeHint()
        return least if self.wordWrap() else QSize(_LEAST, least.height())

    def paintEvent(self, event: QPaintEvent) -> None:
        if self.wordWrap():
            super().paintEvent(event)
            return
        painter = QPainter(self)
        painter.setPen(self.palette().color(self.foregroundRole()))
        line = " ".join(self.text().split())
        shown = self.fontMetrics().elidedText(line, Qt.TextElideMode.ElideRight, self.width())
        painter.drawText(self.rect(), self.alignment(), shown)
        painter.end()


class SteadyLabel(FoldingLabel):
    """One line with room for the longest of `texts`, so that nothing beside it moves whichever it
    says. A longer text is shortened.
    """

    def __init__(self, texts: Sequence[str], parent: QWidget) -> None:
        self._texts = tuple(map(plain, texts))
        super().__init__("", parent)
        self.be_one_line(True)

    def sizeHint(self) -> QSize:
        metrics = self.fontMetrics()
        return QSize(max(map(metrics.horizontalAdvance, self._texts)) + 1, metrics.height())

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()
