"""A line or paragraph of text in the window."""

from typing import Any

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QLabel, QSizePolicy, QWidget

from app.look.plain_text import plain
from app.look.theme import scaled

_LEAST = 40  # logical pixels; the narrowest that a line may get


class Label(QLabel):
    """Shows a text unchanged: markup is not interpreted and nothing is loaded.

    `kind`: the kind in the style sheet, for the colour. `size`: a factor on the parent's text size.
    `figures`: all digits are equally wide.
    """

    def __init__(
        self,
        text: str,
        parent: QWidget,
        *,
        kind: str = "",
        size: float = 1.0,
        strong: bool = False,
        figures: bool = False,
    ) -> None:
        super().__init__(parent)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setText(text)
        if kind:
            self.setProperty("kind", kind)
        if strong or figures or size != 1.0:
            self.setFont(scaled(parent.font(), size, strong=strong, figures=figures))

    def setText(self, text: str) -> None:
        super().setText(plain(text))


class WrappingLabel(Label):
    """A label that wraps its text where one line is too narrow."""

    def __init__(self, text: str, parent: QWidget, **look: Any) -> None:
        """`look` as in Label."""
        super().__init__(text, parent, **look)
        self.setWordWrap(True)

    def take_any_width(self, *, whole: bool = False) -> None:
        """Allow any width, so that a long word does not widen the window. `whole`: reserve the full
        height, for layouts without height-for-width that would cut off a label that wraps. It is
        more height than most texts need.
        """
        policy = QSizePolicy.Policy
        self.setSizePolicy(policy.Ignored, policy.MinimumExpanding if whole else policy.Preferred)

    def say(self, text: str, *, kind: str | None = None) -> None:
        """Show a text, in another `kind` if given. Without a text the label is hidden."""
        if kind is not None:
            self.setProperty("kind", kind)
            self.style().polish(self)
        self.setText(text)
        self.setVisible(bool(text))


class FoldingLabel(Label):
    """Wraps if there is room for several lines; otherwise it is one line, shortened at its end."""

    def __init__(self, text: str, parent: QWidget, **look: Any) -> None:
        """`look` as in Label."""
        super().__init__(text, parent, **look)
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


def announce(widget: QWidget, text: str) -> None:
    """Make a screen reader read this text now."""
    QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(widget, text))
