"""The export of a document as a sound file, by a process of its own.

Invariant: it goes on while other documents are read or the page is closed, and ends with the
program; the same export goes on from there.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from PySide6.QtWidgets import QFileDialog, QWidget

from app.background_job import BackgroundJob, texts_of
from app.language import mark, tr
from app.look.controls import ProgressBar, button
from app.look.file_dialogs import ask_where
from app.look.label import WrappingLabel
from app.look.layout import column, row, wide
from app.look.plain_text import one_line
from app.look.theme import Theme

_FORMATS = {
    mark("Audio book with chapters (*.m4b)"): "m4b",
    mark("MP3 with chapters (*.mp3)"): "mp3",
    mark("Opus with chapters (*.opus)"): "opus",
    mark("Lossless (*.flac)"): "flac",
    mark("Uncompressed (*.wav)"): "wav",
}


class BookExport(QWidget):
    """Its progress and how it ended; hidden before the first one. `command`: see BackgroundJob."""

    def __init__(self, theme: Theme, parent: QWidget, command: Sequence[str] | None = None) -> None:
        super().__init__(parent)
        self._job = BackgroundJob(self, command)
        self._job.reported.connect(self._on_report)
        self._job.ended.connect(self._on_ended)
        self._out = Path()
        self.words = WrappingLabel("", self, size=0.9)
        self.bar = ProgressBar(theme, self)
        self.cancel = button(tr("&Cancel"), self, self.stop)
        line = row(wide(self.words), self.cancel)
        column(line, self.bar, on=self, spacing=6)
        self.hide()

    def choose(self, document: Path, title: str) -> QFileDialog:
        """Ask where to write a document, and in which format."""
        name = one_line(title).replace("/", " ").replace("\\", " ")
        ask = tr("Export the document as sound")
        return ask_where(self, ask, name, _FORMATS, lambda out: self.start(document, out))

    def start(self, document: Path, out: Path) -> None:
        """Begin an export, or go on with one that was stopped."""
        if self._job.is_under_way:
            return
        self._out = out
        self._job.start("read", str(document), "--output", str(out), "--json")
        self.bar.show_share(None)
        self._show(tr("Exporting {file}…", file=one_line(out.name)))

    def stop(self) -> None:
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
        for part in (self.bar, self.cancel):
            part.setVisible(self._job.is_under_way)
        self.show()
