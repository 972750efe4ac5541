"""The sign that nothing of this conversation is saved; pressing it begins one that is.

Invariant: in sight exactly while the engine keeps nothing because the person asked for that.
"""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton, QWidget

from app.bridge import Post
from app.language.words import tr
from app.look.theme import scaled
from engine.api import ConversationOpened, Event, NewConversation


class PrivateSign(QPushButton):
    """One word in a frame."""

    def __init__(self, post: Post, parent: QWidget) -> None:
        super().__init__(tr("Private"), parent)
        self.is_on = False
        self.setProperty("kind", "sign")
        self.setFont(scaled(self.font(), 0.95))
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setAccessibleName(tr("Private conversation. Press to end it"))
        self.setToolTip(tr("Nothing of this conversation is kept. Press to end it"))
        self.clicked.connect(lambda: post(NewConversation()))
        self.hide()

    def on_event(self, event: Event) -> None:
        if isinstance(event, ConversationOpened):
            self.is_on = event.private
            self.setVisible(event.private)
