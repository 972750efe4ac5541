"""What an empty conversation shows: how to begin, and questions that work without any download.

Invariant: it covers the conversation only while that is empty.
"""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton, QVBoxLayout, QWidget

from app.bridge import Post
from app.language.words import tr
from app.look.label import Label
from app.look.theme import scaled
from engine.api import SendText

# Skills that are built in answer these (issue: the first five minutes).
_EXAMPLES = (
    "What time is it?",
    "Convert ten miles to kilometres",
    "What can you do?",
)


class Welcome(QWidget):
    """A greeting and a few questions to press."""

    def __init__(self, post: Post, parent: QWidget) -> None:
        super().__init__(parent)
        self.title = Label(tr("Say something"), self)
        self.title.setFont(scaled(self.font(), 1.9, strong=True))
        self.how = Label("", self)
        self.how.setProperty("kind", "muted")
        self.how.setWordWrap(True)
        self.how.setFont(scaled(self.font(), 1.05))
        column = QVBoxLayout(self)
        column.setContentsMargins(24, 24, 24, 24)
        column.setSpacing(10)
        column.addStretch(2)
        for label in (self.title, self.how):
            label.setAlignment(Qt.AlignmentFlag.AlignCenter)
            column.addWidget(label)
        column.addSpacing(14)
        for example in _EXAMPLES:
            chip = QPushButton(example, self)
            chip.setProperty("kind", "chip")
            chip.setFocusPolicy(Qt.FocusPolicy.TabFocus)
            chip.setCursor(Qt.CursorShape.PointingHandCursor)
            chip.clicked.connect(lambda _=False, text=example: post(SendText(text)))
            column.addWidget(chip, 0, Qt.AlignmentFlag.AlignHCenter)
        column.addStretch(3)
        self.explain("Space", is_hands_free=True)

    def explain(self, key_label: str, *, is_hands_free: bool) -> None:
        """Say how to begin with these settings."""
        if is_hands_free:
            self.how.setText(tr("Just speak, hold {key} to talk, or type.", key=key_label))
        else:
            self.how.setText(tr("Hold {key} while you speak, or type.", key=key_label))
