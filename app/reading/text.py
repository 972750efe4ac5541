"""The text of a chapter, with the word that is heard now.

Invariant: a click starts the reading at its word. The word is kept in sight unless the person has
scrolled away from it. Text is plain, whatever it looks like.
"""

import re

from PySide6.QtCore import QSignalBlocker, Qt, QTimer, Signal
from PySide6.QtGui import (
    QFont,
    QKeyEvent,
    QMouseEvent,
    QTextBlock,
    QTextCharFormat,
    QTextCursor,
    QWheelEvent,
)
from PySide6.QtWidgets import QFrame, QPlainTextEdit, QTextEdit, QWidget

from app.language import tr
from app.look.layout import OverlayBar
from app.look.plain_text import displayable, units
from app.look.theme import Theme, scaled
from engine.api import Chapter, Place

_SIZE = 1.2  # of the window's text
_WORD = re.compile(r"\S+")


class ChapterText(QPlainTextEdit):
    """Paragraphs with an empty line between them.

    Signals:
        chosen(int, int): a paragraph and a word of it were clicked.
    """

    chosen = Signal(int, int)

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self._place = Place()
        self._follows = True
        self.setReadOnly(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        OverlayBar(self)
        self.setFont(scaled(self.font(), _SIZE))
        self.setAccessibleName(tr("Text of the document"))
        self.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.viewport().setCursor(Qt.CursorShape.PointingHandCursor)
        self._scrolled = QTimer(self, singleShot=True, interval=0)  # by the person, until now
        self._scrolled.timeout.connect(self._on_scrolled)
        self.verticalScrollBar().actionTriggered.connect(lambda _: self._scrolled.start())
        theme.changed.connect(self._mark_word)

    def show_chapter(self, chapter: Chapter) -> None:
        """Show another text from its beginning."""
        self._place, self._follows = Place(), True
        heading = QTextCharFormat()
        heading.setFontWeight(QFont.Weight.Bold)
        quiet = QTextCharFormat()
        quiet.setFontItalic(True)
        formats = {"heading": heading, "quote": quiet, "code": quiet}
        with QSignalBlocker(self.document()):
            self.setPlainText(
                "\n\n".join(
                    displayable(" ".join(each.text.splitlines())) for each in chapter.paragraphs
                )
            )
        for number, each in enumerate(chapter.paragraphs):
            if each.kind in formats:
                cursor = QTextCursor(self.document().findBlockByNumber(2 * number))
                cursor.movePosition(
                    QTextCursor.MoveOperation.EndOfBlock, QTextCursor.MoveMode.KeepAnchor
                )
                cursor.setCharFormat(formats[each.kind])
        self.setExtraSelections([])

    def show_word(self, place: Place, *, follow: bool = False) -> None:
        """Mark the word of a place of this chapter; `follow`: and bring it into sight."""
        self._place = place
        self._follows = self._follows or follow
        self._mark_word()
        if self._follows:
            self._bring_into_sight()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        super().mouseReleaseEvent(event)
        if event.button() is not Qt.MouseButton.LeftButton or self.textCursor().hasSelection():
            return
        cursor = self.cursorForPosition(event.position().toPoint())
        block = cursor.block()
        if block.blockNumber() % 2 == 0 and block.text().strip():
            before = _first_units(block.text(), cursor.positionInBlock())
            word = len(before.split()) - (bool(before) and not before[-1].isspace())
            self._follows = True
            self.chosen.emit(block.blockNumber() // 2, max(0, word))

    def wheelEvent(self, event: QWheelEvent) -> None:
        super().wheelEvent(event)
        self._scrolled.start()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Space is for the page."""
        if event.key() == Qt.Key.Key_Space:
            event.ignore()
        else:
            super().keyPressEvent(event)
            self._scrolled.start()

    # ------------------------------------------------------------------- inside

    def _mark_word(self) -> None:
        marked = QTextEdit.ExtraSelection()
        cursor = self._word_cursor()
        if cursor is None:
            self.setExtraSelections([])
            return
        marked.cursor = cursor
        marked.format.setBackground(self._theme.colour("accent_soft"))
        marked.format.setForeground(self._theme.colour("text"))
        self.setExtraSelections([marked])

    def _word_cursor(self) -> QTextCursor | None:
        block = self._block()
        words = list(_WORD.finditer(block.text())) if block.isValid() else []
        if self._place.word >= len(words):
            return None
        start, end = (units(block.text()[:at]) for at in words[self._place.word].span())
        cursor = QTextCursor(block)
        cursor.setPosition(block.position() + start)
        cursor.setPosition(block.position() + end, QTextCursor.MoveMode.KeepAnchor)
        return cursor

    def _block(self) -> QTextBlock:
        return self.document().findBlockByNumber(2 * self._place.paragraph)

    def _is_in_sight(self) -> bool:
        cursor = self._word_cursor()
        if cursor is None:
            return True
        return self.viewport().rect().contains(self.cursorRect(cursor).center())

    def _on_scrolled(self) -> None:
        self._follows = self._is_in_sight()

    def _bring_into_sight(self) -> None:
        """Scroll so that the word is in the middle, unless it is in sight. That ends a selection,
        because Qt scrolls to its own cursor only.
        """
        cursor = self._word_cursor()
        if cursor is not None and not self._is_in_sight():
            cursor.setPosition(cursor.selectionStart())
            self.setTextCursor(cursor)
            self.centerCursor()


def _first_units(text: str, count: int) -> str:
    """Return the beginning of a text that has `count` UTF-16 units."""
    return text.encode("utf-16-le", "surrogatepass")[: 2 * count].decode("utf-16-le", "ignore")
