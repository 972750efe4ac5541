"""The end of the page on other programs: where the server is, who is connected, and the token.

Invariant: it shows what the server last told; the token is never on the screen, only copied.
"""

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QPushButton, QVBoxLayout, QWidget

from app.language.words import tr
from app.look.label import Label
from app.presence.server import Server


class ServerRow(QWidget):
    """Of one server."""

    def __init__(self, server: Server, parent: QWidget) -> None:
        super().__init__(parent)
        self._server = server
        self.words = Label("", self)
        self.words.setWordWrap(True)
        self.words.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.copy = QPushButton(tr("&Copy the token"), self)
        self.copy.clicked.connect(self._on_copy)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        column.addWidget(self.words)
        column.addWidget(self.copy, 0, Qt.AlignmentFlag.AlignLeft)
        server.changed.connect(self._show)
        self._show()

    def _on_copy(self) -> None:
        QGuiApplication.clipboard().setText(self._server.token)

    def _show(self) -> None:
        self.words.setProperty("kind", "danger" if self._server.fault else "muted")
        self.words.style().polish(self.words)
        self.words.setText(self._server.state)
        self.copy.setVisible(bool(self._server.token))
