"""A line or paragraph of text in the window."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QWidget

from app.look.plain_text import plain


class Label(QLabel):
    """Shows any text as it is written: what looks like markup is not obeyed, nothing is loaded."""

    def __init__(self, text: str, parent: QWidget) -> None:
        super().__init__(parent)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setText(text)

    def setText(self, text: str) -> None:
        super().setText(plain(text))
