"""The small window of an installation, which uses the Qt of the environment that is being
installed.

Invariant: it only reads lines of JSON from standard input, and ends when the input ends. After
Cancel its exit status is progress.CANCELLED.
"""

import json
import os
import sys
from typing import Any

from PySide6.QtCore import Qt, QThread, Signal
from PySide6.QtGui import QCloseEvent
from PySide6.QtWidgets import (
    QApplication,
    QHBoxLayout,
    QLabel,
    QProgressBar,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

CANCELLED = 3  # the same as in progress.py; this file runs without its package


class Lines(QThread):
    """Standard input, line by line."""

    came = Signal(dict)

    def run(self) -> None:
        for line in sys.stdin:
            try:
                said = json.loads(line)
            except ValueError:
                continue
            if isinstance(said, dict):
                self.came.emit(said)


class Window(QWidget):
    """A title, a progress bar, the current step, and a Cancel button."""

    def __init__(self) -> None:
        super().__init__()
        self.setWindowTitle("Installing Rubato")
        self._title = QLabel("Rubato is being installed")
        self._title.setWordWrap(True)
        self._title.setTextFormat(Qt.TextFormat.PlainText)
        font = self._title.font()
        font.setPointSizeF(font.pointSizeF() * 1.2)
        self._title.setFont(font)
        self._bar = QProgressBar()
        self._bar.setRange(0, 1000)
        self._bar.setTextVisible(False)
        self._detail = QLabel(" ")
        self._detail.setTextFormat(Qt.TextFormat.PlainText)  # it may contain a server's text
        self._detail.setAccessibleName("Current step")
        self._cancel = QPushButton("Cancel")
        self._cancel.clicked.connect(self.close)
        self._over = False
        self._lay_out()

    def show_progress(self, said: dict[str, Any]) -> None:
        title, detail = str(said.get("title", "")), str(said.get("detail", ""))
        self._title.setText(title)
        part = said.get("part")
        self._bar.setValue(int(1000 * part) if isinstance(part, (int, float)) else 0)
        if detail == "failed":
            self._over = True
            self._cancel.setText("Close")
            self._bar.hide()
            self._detail.hide()
            self.adjustSize()
            return
        width = self._detail.width()
        middle = Qt.TextElideMode.ElideMiddle
        self._detail.setText(self._detail.fontMetrics().elidedText(detail, middle, width) or " ")

    def closeEvent(self, event: QCloseEvent) -> None:
        event.accept()
        QApplication.exit(0 if self._over else CANCELLED)

    def end(self) -> None:
        """End with the installation; a failure stays visible."""
        if not self._over:
            QApplication.exit(0)

    def _lay_out(self) -> None:
        rows = QVBoxLayout(self)
        rows.setContentsMargins(24, 20, 24, 16)
        rows.setSpacing(10)
        for each in (self._title, self._bar, self._detail):
            rows.addWidget(each)
        buttons = QHBoxLayout()
        buttons.addStretch()
        buttons.addWidget(self._cancel)
        rows.addStretch()
        rows.addLayout(buttons)
        self.setMinimumWidth(460)


def main() -> None:
    application = QApplication(sys.argv[:1])
    application.setApplicationName("Rubato")
    application.setDesktopFileName("org.rubato.Rubato")
    window = Window()
    lines = Lines()
    lines.came.connect(window.show_progress)
    lines.finished.connect(window.end)
    lines.start()
    window.show()
    status = application.exec()
    os._exit(status)  # the thread may still wait for a line


if __name__ == "__main__":
    main()
