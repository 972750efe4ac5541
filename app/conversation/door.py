"""The button below a reply that only a language model could have given; it leads to the models.

Invariant: it stands below the last such reply, moves with it, and is never over anything else.
"""

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QPushButton, QTextEdit

from app.conversation import bubbles
from app.conversation.document import ConversationDocument
from app.conversation.transcript import Transcript
from app.language.words import tr

_SIZE = QSize(0, int(bubbles.DOOR))  # lower ones lose their round ends


class Door(QPushButton):
    """Its `clicked` signal opens the page of models."""

    def __init__(
        self, document: ConversationDocument, transcript: Transcript, view: QTextEdit
    ) -> None:
        super().__init__(tr("Get a language model…"), view)
        self._document = document
        self._transcript = transcript
        self._view = view
        self.setProperty("kind", "pill")
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.hide()

    def follow(self) -> None:
        """Follow the reply from now on; the view must have its document."""
        self._view.verticalScrollBar().valueChanged.connect(self.place)
        self._document.documentLayout().documentSizeChanged.connect(self.place)

    def place(self) -> None:
        """Move below the last reply that lacked a language model, while that reply is in sight."""
        doors = (each for each in reversed(self._transcript.exchanges) if each.has_door)
        exchange = next(doors, None)
        block = self._document.door_block(exchange) if exchange is not None else None
        if block is None:
            self.hide()
            return
        self._document.documentLayout().blockBoundingRect(block)  # makes Qt lay it out
        size, caption = self.sizeHint().expandedTo(_SIZE), bubbles.text_rect(block)
        left = caption.right() + bubbles.GAP if block.text().strip() else caption.left()
        middle = caption.center().y() - size.height() / 2
        top = middle - self._view.verticalScrollBar().value()
        self.setGeometry(int(left), int(top), size.width(), size.height())
        self.setVisible(0 <= top <= self._view.viewport().height() - size.height())
