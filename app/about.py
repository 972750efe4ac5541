"""The page about the program: its version, how to get a newer one, and diagnostics.

Invariant: nothing is collected before the person asks for it, and nothing leaves the machine:
diagnostics go to the clipboard, and the person decides where to paste them.
"""

import json
from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtGui import QCloseEvent, QGuiApplication
from PySide6.QtWidgets import QWidget

from app.background_job import BackgroundJob
from app.language import mark, tr
from app.look.controls import button
from app.look.label import WrappingLabel
from app.look.layout import Spring, card, fill, row, wide
from app.look.page import Page
from engine import api

_ABOUT = mark(
    "Rubato {version} is free software under the GNU General Public License, version 3 or later,"
    " without any warranty. It tells nobody anything; what breaks is noted on this computer alone."
)
_MADE_OF = mark("What it is made of, with all licences, in a terminal: rubato licences")
_COPIED = mark(
    "Copied. It holds no text, name, path or address of yours: look through it, then paste it."
)
_NOT_COPIED = mark("The diagnostics failed. Run `rubato doctor` in a terminal to find out why.")
_NEWER = mark(
    "Rubato does not look for new versions. Install a newer one the way this one came: by your"
    " system's packages, by `rubato-setup install` of the newer release, or with git."
    " `rubato-setup roll-back` returns to the version before."
)


class AboutPage(Page):
    """Not modal, created at each opening. `command` starts Rubato; None = as this was started."""

    def __init__(self, parent: QWidget, command: Sequence[str] | None = None) -> None:
        about = tr(_ABOUT, version=api.version()).replace("  ", " ")
        super().__init__(tr("About Rubato"), about, parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._diagnosis = BackgroundJob(self, command, ended=self._on_diagnosed)
        self.copy = button(tr("&Copy diagnostics"), self, self._on_copy)
        needed = tr("What a report of a fault needs, and nothing of yours.")
        self.copied = WrappingLabel(needed, self, kind="muted")
        texts = [WrappingLabel(tr(text), self, kind="muted") for text in (_NEWER, _MADE_OF)]
        line = QWidget(self)
        row(self.copy, wide(self.copied), on=line, spacing=12)
        fill(self.body, *(card(self, each) for each in (*texts, line)), Spring())

    def closeEvent(self, event: QCloseEvent) -> None:
        self._diagnosis.end()
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
