"""Asks where to write the conversation, and in which format.

Invariant: the file's suffix decides the format; the engine writes the file and reports the result.
"""

from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog, QWidget

from app.bridge import Post
from app.language.words import mark, tr
from engine.api import Export

_FORMATS = {
    mark("Text (*.txt)"): "txt",
    mark("Markdown (*.md)"): "md",
    mark("JSON with word times (*.json)"): "json",
    mark("Subtitles (*.srt)"): "srt",
    mark("Sound of both sides, if it was recorded (*.wav)"): "wav",
}


class ExportDialog(QFileDialog):
    """Does not stop the program; a chosen file is posted as an Export."""

    def __init__(self, post: Post, parent: QWidget) -> None:
        super().__init__(parent, tr("Export the conversation"), "conversation")
        self.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        formats = {tr(words): suffix for words, suffix in _FORMATS.items()}
        self.setNameFilters(list(formats))
        self.setDefaultSuffix("txt")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.filterSelected.connect(lambda chosen: self.setDefaultSuffix(formats[chosen]))
        self.fileSelected.connect(lambda name: post(Export(Path(name))))
