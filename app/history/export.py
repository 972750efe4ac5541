"""Asking where all conversations are to be written, and as what.

Invariant: the suffix of the file says the format; the engine writes it and tells how that went.
"""

from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog, QWidget

from app.bridge import Post
from engine.api import ExportConversations

_FORMATS = {"Markdown (*.md)": "md", "Text (*.txt)": "txt", "JSON with word times (*.json)": "json"}


class ExportAllDialog(QFileDialog):
    """Does not stop the program; a chosen file is posted as ExportConversations."""

    def __init__(self, post: Post, parent: QWidget) -> None:
        super().__init__(parent, "Export all conversations", "conversations")
        self.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        self.setNameFilters(list(_FORMATS))
        self.setDefaultSuffix("md")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.filterSelected.connect(lambda chosen: self.setDefaultSuffix(_FORMATS[chosen]))
        self.fileSelected.connect(lambda name: post(ExportConversations(Path(name))))
