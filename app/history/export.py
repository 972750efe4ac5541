"""Asks where to write all conversations, and in which format.

Invariant: the file's suffix decides the format; the engine writes the file and reports the result.
"""

from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog, QWidget

from app.bridge import Post
from app.language.words import mark, tr
from engine.api import ExportConversations

_FORMATS = {
    mark("Markdown (*.md)"): "md",
    mark("Text (*.txt)"): "txt",
    mark("JSON with word times (*.json)"): "json",
}


class ExportAllDialog(QFileDialog):
    """Does not stop the program; a chosen file is posted as ExportConversations."""

    def __init__(self, post: Post, parent: QWidget) -> None:
        super().__init__(parent, tr("Export all conversations"), "conversations")
        self.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        formats = {tr(words): suffix for words, suffix in _FORMATS.items()}
        self.setNameFilters(list(formats))
        self.setDefaultSuffix("md")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.filterSelected.connect(lambda chosen: self.setDefaultSuffix(formats[chosen]))
        self.fileSelected.connect(lambda name: post(ExportConversations(Path(name))))
