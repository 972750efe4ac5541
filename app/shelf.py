"""The shelf: the voice area and the status, in a column that scrolls when the window is low.

Invariant: nothing in it is needed while talking, so a narrow window may hide it.
"""

from PySide6.QtCore import QEvent, QObject, QSize, Qt
from PySide6.QtWidgets import QFrame, QScrollArea, QVBoxLayout, QWidget

from app.bridge import Post
from app.look.overlay import OverlayBar
from app.look.theme import Theme
from app.status.panel import Status
from app.status.parts import Parts
from app.voice.panel import VoiceArea
from engine.api import Event


class Shelf(QScrollArea):
    """Two cards, one under the other."""

    def __init__(self, post: Post, parts: Parts, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        content = QWidget()
        content.setProperty("kind", "page")
        self.setWidget(content)  # while it is empty: what moves is styled anew, with all in it
        self._content = content
        self.voices = VoiceArea(post, theme, content)
        self.status = Status(parts, theme, content)
        column = QVBoxLayout(content)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(12)
        column.addWidget(_card(self.voices, content))
        column.addWidget(_card(self.status, content))
        column.addStretch(1)
        content.installEventFilter(self)
        self.setWidgetResizable(True)
        OverlayBar(self)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)

    def on_event(self, event: Event) -> None:
        self.voices.on_event(event)
        self.status.on_event(event)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """A scroll area does not report when its content wants another size."""
        if event.type() == QEvent.Type.LayoutRequest:
            self.updateGeometry()
        return super().eventFilter(watched, event)

    def sizeHint(self) -> QSize:
        least = self._content.minimumSizeHint()  # larger than its sizeHint where lines wrap
        return QSize(330, self._content.sizeHint().expandedTo(least).height())

    def minimumSizeHint(self) -> QSize:
        return QSize(220, 120)


def _card(widget: QWidget, parent: QWidget) -> QFrame:
    card = QFrame(parent)
    card.setProperty("kind", "card")
    inside = QVBoxLayout(card)
    inside.setContentsMargins(16, 14, 16, 14)
    inside.addWidget(widget)
    return card
