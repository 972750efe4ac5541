"""The page about the program: its version, how to get a newer one, diagnostics, and its parts.

Invariant: nothing is collected before the person asks for it or looks at it, and nothing leaves the
machine: diagnostics go to the clipboard, and the person decides where to paste them.
"""

import json
from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtGui import QCloseEvent, QGuiApplication, QShowEvent
from PySide6.QtWidgets import QListWidget, QPlainTextEdit, QWidget

from app.background_job import BackgroundJob
from app.language import mark, tr
from app.look.controls import button
from app.look.label import Label, WrappingLabel
from app.look.layout import card, fill, row, wide
from app.look.page import Page
from app.look.plain_text import one_line, plain
from engine import api

_ABOUT = mark(
    "Rubato {version} is free software under the GNU General Public License, version 3 or later,"
    " without any warranty. It tells nobody anything; what breaks is noted on this computer alone."
)
_COPIED = mark(
    "Copied. It holds no text, name, path or address of yours: look through it, then paste it."
)
_NOT_COPIED = mark("The diagnostics failed. Run `rubato doctor` in a terminal to find out why.")
_NEWER = mark(
    "Rubato does not look for new versions. Install a newer one the way this one came: by your"
    " system's packages, by `rubato-setup install` of the newer release, or with git."
    " `rubato-setup roll-back` returns to the version before."
)
_TEXT_HEIGHT = 190


class AboutPage(Page):
    """Not modal; created each time it is opened. `command` starts Rubato (None: the way this one
    was started).
    """

    def __init__(self, parent: QWidget, command: Sequence[str] | None = None) -> None:
        about = tr(_ABOUT, version=api.version()).replace("  ", " ")
        super().__init__(tr("About Rubato"), about, parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._texts: list[str] = []
        self._diagnosis = BackgroundJob(self, command)
        self._collection = BackgroundJob(self, command)
        self._diagnosis.ended.connect(self._on_diagnosed)
        self._collection.ended.connect(self._on_collected)
        self.newer = WrappingLabel(tr(_NEWER), self, kind="muted")
        self.copy = button(tr("&Copy diagnostics"), self, self._on_copy)
        needed = tr("What a report of a fault needs, and nothing of yours.")
        self.copied = WrappingLabel(needed, self, kind="muted")
        self.works = QListWidget(self)
        self.works.setProperty("kind", "works")
        self.works.setWordWrap(True)
        self.works.setAccessibleName(tr("What Rubato is made of"))
        self.works.currentRowChanged.connect(self._show_text)
        self.text = QPlainTextEdit(self)
        self.text.setReadOnly(True)
        self.text.setAccessibleName(tr("Licence in full"))
        self.text.setFixedHeight(_TEXT_HEIGHT)
        line = QWidget(self)
        row(self.copy, wide(self.copied), on=line, spacing=12)
        fill(self.head, card(self, self.newer), card(self, line))
        heading = Label(tr("What it is made of"), self, strong=True)
        fill(self.body, heading, wide(card(self, self.works)), self.text)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if not self._texts:
            self.works.addItem(tr("Collecting…"))
            self._collection.start("licences", "--json")

    def closeEvent(self, event: QCloseEvent) -> None:
        for job in (self._diagnosis, self._collection):
            job.end()
        super().closeEvent(event)

    def _on_copy(self) -> None:
        self.copy.setEnabled(False)
        self.copied.setText(tr("Looking at everything; this takes some seconds."))
        self._diagnosis.start("doctor", "--json")

    def _on_diagnosed(self, document: dict[str, Any] | None) -> None:
        self.copy.setEnabled(True)
        if document:
            text = json.dumps(document, indent=1, ensure_ascii=False)
            QGuiApplication.clipboard().setText(text)
        self.copied.setText(tr(_COPIED if document else _NOT_COPIED))

    def _on_collected(self, document: dict[str, Any] | None) -> None:
        works = document["works"] if document else []
        self.works.clear()
        self._texts = [str(work["text"]) for work in works]
        for work in works:
            name = f"{work['name']} {work['version']}".strip()
            self.works.addItem(one_line(f"{name} · {work['terms']}"))
        if works:
            self.works.setCurrentRow(0)
        else:
            self.works.addItem(tr("The licences could not be collected: try `rubato licences`."))

    def _show_text(self, row: int) -> None:
        text = self._texts[row] if 0 <= row < len(self._texts) else ""
        self.text.setPlainText(plain(text) or tr("It came without a text of its licence."))
