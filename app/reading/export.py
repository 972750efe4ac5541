"""The export of a document as a sound file, by a process of its own.

Invariant: it goes on while other documents are read or the page is closed, and ends with the
program; the same export goes on from there.
"""

from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtWidgets import QFileDialog, QWidget

from app.background_job import BackgroundJob, texts_of
from app.language import mark, tr
from app.look.controls import ProgressBar, button
from app.look.file_dialogs import ask_where
from app.look.label import WrappingLabel
from app.look.layout import column
from app.look.plain_text import one_line
from app.look.theme import Theme
from engine.api import DocumentOpened

_FORMATS = {
    mark("Audio book with chapters (*.m4b)"): "m4b",
    mark("MP3 with chapters (*.mp3)"): "mp3",
    mark("Opus with chapters (*.opus)"): "opus",
    mark("Lossless (*.flac)"): "flac",
    mark("Uncompressed (*.wav)"): "wav",
}


class BookExport(QWidget):
    """The progress of an export and how it ended; hidden before the first one. `act` is its button,
    which the page shows.
    """

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._job = BackgroundJob(self, reported=self._on_report, ended=self._on_ended)
        self._document = self._out = Path()
        self._title, self._private = "", False
        self.act = button(tr("&Export…"), parent, self._on_act)
        self.words = WrappingLabel("", self, size=0.9)
        self.bar = ProgressBar(theme, self)
        column(self.words, self.bar, on=self, spacing=6)
        self.hide()

    def show_document(self, opened: DocumentOpened) -> None:
        """Offer this document for the next export."""
        self._document, self._title, self._private = opened.path, opened.title, opened.private
        kept = tr("Not in a private conversation: the parts of an export are kept meanwhile.")
        self.act.setToolTip(kept if opened.private else "")
        self._show_act()

    def choose(self) -> QFileDialog:
        """Ask where to write the document, and in which format."""
        name = one_line(self._title).replace("/", " ").replace("\\", " ")
        # another document may be opened meanwhile
        start = partial(self.start, self._document)
        return ask_where(self, tr("Export the document as sound"), name, _FORMATS, start)

    def start(self, document: Path, out: Path) -> None:
        """Begin an export, or go on with one that was stopped."""
        self._out = out
        self._job.start("read", str(document), "--output", str(out), "--json")
        self.bar.show_share(None)
        self._show(tr("Exporting {file}…", file=one_line(out.name)))

    def _on_act(self) -> None:
        if not self._job.is_under_way:
            self.choose()
            return
        self._job.end()
        self._show(tr("The export was stopped. Start it again to go on from there."))

    def _on_report(self, line: dict[str, Any]) -> None:
        if isinstance(part := line.get("part"), float):
            self.bar.show_share(part)

    def _on_ended(self, document: dict[str, Any] | None) -> None:
        if document is not None and "file" in document:
            self._show(tr("{file} is complete.", file=one_line(str(self._out))))
        else:
            fault = texts_of(document) or [tr("The export ended too early. Start it again.")]
            self._show("\n".join(fault), kind="danger")

    def _show(self, words: str, kind: str = "muted") -> None:
        self.words.say(words, kind=kind)
        self.bar.setVisible(self._job.is_under_way)
        self._show_act()
        self.show()

    def _show_act(self) -> None:
        runs = self._job.is_under_way
        self.act.setText(tr("&Cancel") if runs else tr("&Export…"))
        self.act.setEnabled(runs or not self._private)
