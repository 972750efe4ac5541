"""The row below the conversation: type a turn, stop the reply, hold to talk.

Invariant: it posts SendText only for text with something in it, and keeps what was typed until it
was sent.
"""

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLineEdit, QWidget

from app.bridge import Post
from app.language.words import tr
from app.look.icons import IconButton
from app.look.theme import Theme
from app.stage.talk import TalkButton
from engine.api import Event, Phase, PhaseChanged, SendText, StopReply

_LONGEST = 20_000  # characters of one typed turn; more is a paste by mistake


class Composer(QFrame):
    """Input line, send, stop and talk."""

    def __init__(self, post: Post, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._post = post
        self.setProperty("kind", "composer")
        self.line = self._make_line()
        self.send = IconButton("send", tr("Send (Enter)"), theme, self)
        self.stop = IconButton("stop", tr("Stop the reply (Esc)"), theme, self)
        self.talk = TalkButton(post, theme, self)
        self.send.setEnabled(False)
        self.stop.setEnabled(False)
        self.line.textChanged.connect(lambda text: self.send.setEnabled(bool(text.strip())))
        self.line.returnPressed.connect(self.send_typed)
        self.send.clicked.connect(self.send_typed)
        self.stop.clicked.connect(self.stop_reply)
        self.line.installEventFilter(self)
        self._lay_out()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """The line has no frame of its own: the whole row shows that one types into it."""
        if event.type() in (QEvent.Type.FocusIn, QEvent.Type.FocusOut):
            self.setProperty("typing", event.type() == QEvent.Type.FocusIn)
            self.style().unpolish(self)
            self.style().polish(self)
        return super().eventFilter(watched, event)

    def on_event(self, event: Event) -> None:
        if isinstance(event, PhaseChanged):
            self.stop.setEnabled(event.phase in (Phase.THINKING, Phase.SPEAKING))
        self.talk.on_event(event)

    def send_typed(self) -> None:
        """Make what was typed a turn."""
        text = self.line.text().strip()
        if text:
            self._post(SendText(text))
            self.line.clear()

    def stop_reply(self) -> None:
        self._post(StopReply())

    def type(self, text: str) -> None:
        """Start typing from elsewhere in the window."""
        self.line.setFocus(Qt.FocusReason.OtherFocusReason)
        self.line.insert(text)

    def be_compact(self, on: bool) -> None:
        self.talk.be_compact(on)
        self.send.setVisible(not on)

    def _make_line(self) -> QLineEdit:
        line = QLineEdit(self)
        line.setProperty("kind", "bare")
        line.setPlaceholderText(tr("Type a message"))
        line.setAccessibleName(tr("Message"))
        line.setMaxLength(_LONGEST)
        line.setMinimumWidth(60)
        line.setAcceptDrops(False)  # a file dropped here is a voice, not its name
        return line

    def _lay_out(self) -> None:
        row = QHBoxLayout(self)
        row.setContentsMargins(16, 5, 5, 5)
        row.setSpacing(4)
        row.addWidget(self.line, 1)
        row.addWidget(self.send)
        row.addWidget(self.stop)
        row.addWidget(self.talk)
