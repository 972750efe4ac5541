"""The buttons below a reply: get a language model (if only one could have given it), copy it, hear
it again; and the one beside a question: edit it and send it again.

Invariant: they move with their text and never cover it. Those of all exchanges belong to one at a
time, the one pointed at or marked, else the newest.
"""

from PySide6.QtCore import QSize, QTimer, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QTextEdit, QWidget

from app.conversation import bubbles
from app.conversation.document import ConversationDocument
from app.conversation.transcript import Exchange, Transcript
from app.language import tr
from app.look.controls import IconButton, button
from app.look.layout import row
from app.look.plain_text import plain
from app.look.theme import Theme

_ICON = QSize(16, 16)
_COPIED_MS = 1500
_LINK_HEIGHT = 32  # lower ones lose their round ends


class ReplyTools(QWidget):
    """Signals:
    wanted_again(int): a turn whose reply is to be heard again.
    edit_wanted(int, str): a turn whose question, this one, is to be edited and sent again.
    """

    wanted_again = Signal(int)
    edit_wanted = Signal(int, str)

    def __init__(self, transcript: Transcript, theme: Theme, view: QTextEdit) -> None:
        """`view` must have its document already."""
        super().__init__(view)
        self._transcript = transcript
        self._view = view
        self._pointed: Exchange | None = None  # None = no reply, or one that was removed
        self.model_link = button(tr("Get a language model…"), self, kind="pill", by_tab=True)
        self.model_link.ensurePolished()  # before it was shown, its size is not the style sheet's
        height = max(_LINK_HEIGHT, self.model_link.sizeHint().height())
        self.model_link.setMinimumHeight(height)
        self.copy = IconButton("copy", tr("Copy this reply"), theme, self, self._on_copy)
        again = tr("Hear this reply again")
        self.again = IconButton("replay", again, theme, self, self._on_again)
        edit = tr("Edit this question and send it again")
        self.edit = IconButton("edit", edit, theme, view, self._on_edit)
        self._copied = QTimer(self, singleShot=True, interval=_COPIED_MS)
        self._copied.timeout.connect(lambda: self.copy.show_as("copy", tr("Copy this reply")))
        for each in (self.copy, self.again, self.edit):
            each.setProperty("kind", "small")
            each.setIconSize(_ICON)
        row(self.model_link, self.copy, self.again, on=self, spacing=2)
        view.verticalScrollBar().valueChanged.connect(self.place)
        view.document().documentLayout().documentSizeChanged.connect(self.place)
        self.edit.hide()
        self.hide()

    @property
    def question(self) -> Exchange | None:
        """The exchange whose question can be edited; None before the first question."""
        asked = [each for each in self._transcript.exchanges if each.said and not each.is_partial]
        return next((each for each in asked if each is self._pointed), next(reversed(asked), None))

    @property
    def exchange(self) -> Exchange | None:
        """The exchange whose reply has the buttons; None before the first finished reply."""
        over = (
            each
            for each in reversed(self._transcript.exchanges)
            if each.ending and each.reply and not each.reply.isspace()
        )
        newest = next(over, None)
        if self._pointed is newest or any(each is self._pointed for each in over):
            return self._pointed
        return newest

    def point_at(self, exchange: Exchange) -> None:
        """Move the buttons to the reply of this exchange."""
        if exchange is not self._pointed:
            self._pointed = exchange
            self.place()

    def place(self) -> None:
        """Move below the reply, next to its caption if it has one."""
        self.ensurePolished()
        document, exchange = self._view.document(), self.exchange
        assert isinstance(document, ConversationDocument)
        self._place_edit(document)
        block = document.reply_block(exchange) if exchange is not None else None
        if exchange is None or block is None:
            self.hide()
            return
        self.model_link.setVisible(exchange.wants_model)
        caption = document.caption_block(exchange)
        if caption is None:
            bubble = document.bubble_rect(exchange)
            edge = 5 if exchange.wants_model else 1  # its button has a frame
            left, top = bubble.left() + bubbles.PAD_X - 5 + edge, bubble.bottom() + edge
        else:
            rect = bubbles.text_rect(caption)
            left, top = rect.right() + bubbles.GAP, rect.center().y() - self.sizeHint().height() / 2
        self._put(self, left, top)

    def _place_edit(self, document: ConversationDocument) -> None:
        """Move the edit button to the left of the question."""
        block = document.said_block(self.question) if self.question is not None else None
        if block is None:
            self.edit.hide()
            return
        size, rect = self.edit.sizeHint(), bubbles.text_rect(block)
        left = rect.left() - bubbles.PAD_X - size.width() - 4
        line = bubbles.line_top(block, 0) + self._view.fontMetrics().height() / 2
        self._put(self.edit, max(0.0, left), line - size.height() / 2)

    def _put(self, widget: QWidget, left: float, top: float) -> None:
        """Move a widget to a place of the document; hide it where it would be cut off."""
        size, top = widget.sizeHint(), top - self._view.verticalScrollBar().value()
        widget.setGeometry(int(left), int(top), size.width(), size.height())
        widget.setVisible(0 <= top <= self._view.viewport().height() - size.height())

    def _on_edit(self) -> None:
        if self.question is not None:
            self.edit_wanted.emit(self.question.turn, self.question.said)

    def _on_copy(self) -> None:
        if self.exchange is not None:
            QGuiApplication.clipboard().setText(plain(self.exchange.reply))
            self.copy.show_as("check", tr("Copied"))
            self._copied.start()

    def _on_again(self) -> None:
        if self.exchange is not None:
            self.wanted_again.emit(self.exchange.turn)
