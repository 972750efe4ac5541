"""Asking where the conversation is to be written, and as what.

Invariant: the suffix of the file says the format; the engine writes it and tells how that went.
"""

from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog, QWidget

from app.bridge import Post
from engine.api import Export

_FORMATS = {
    "Text (*.txt)": "txt",
    "Markdown (*.md)": "md",
    "JSON with word times (*.json)": "json",
    "Subtitles (*.srt)": "srt",
    "Sound of both sides, if it was recorded (*.wav)": "wav",
}


class ExportDialog(QFileDialog):
    """Does not stop the program; a chosen file is posted as an Export."""

    def __init__(self, post: Post, parent: QWidget) -> None:
        super().__init__(parent, "Export the conversation", "conversation")
        self.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        self.setNameFilters(list(_FORMATS))
        self.setDefaultSuffix("txt")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.filterSelected.connect(lambda chosen: self.setDefaultSuffix(_FORMATS[chosen]))
        self.fileSelected.connect(lambda name: post(Export(Path(name))))
