"""The shelf: the voice area and the status, in a column that scrolls when the window is low.

Invariant: nothing in it is needed while talking, so a narrow window may hide it.
"""

from PySide6.QtCore import QEvent, QObject, QSize
from PySide6.QtWidgets import QWidget

from app.bridge import Post
from app.look.layout import Spring, card, column
from app.look.overlay import Scrolled, page_in
from app.look.theme import Theme
from app.status.panel import Status
from app.status.parts import Parts
from app.voice.panel import VoiceArea
from engine.api import Event


class Shelf(Scrolled):
    """Two cards, one under the other."""

    def __init__(self, post: Post, parts: Parts, theme: Theme, parent: QWidget) -> None:
        content = page_in()
        super().__init__(content, parent)  # while it is empty: what moves is styled anew
        self._content = content
        self.voices = VoiceArea(post, theme, content)
        self.status = Status(parts, theme, content)
        shown = (self.voices, self.status)
        cards = [card(content, each, margins=(16, 14, 16, 14)) for each in shown]
        column(*cards, Spring(), on=content, spacing=12)
        content.installEventFilter(self)

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
