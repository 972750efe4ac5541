"""The button that mutes the microphone: one click closes its stream.

Invariant: it shows what the engine reports, never what was requested.
"""

from PySide6.QtWidgets import QWidget

from app.bridge import Post
from app.language.words import tr
from app.look.icons import IconButton
from app.look.theme import Theme
from engine.api import ChangeSetting

MUTED_KEY = "audio.muted"


class MicrophoneButton(IconButton):
    """Crossed out while the microphone is muted."""

    def __init__(self, post: Post, theme: Theme, parent: QWidget) -> None:
        super().__init__("microphone", "", theme, parent)
        self._is_muted = False
        self.clicked.connect(lambda: post(ChangeSetting(MUTED_KEY, not self._is_muted)))
        self.show_muted(False)

    def show_muted(self, on: bool) -> None:
        self._is_muted = on
        if on:
            self.show_as("microphone-off", tr("Muted: the microphone is closed (Ctrl+U)"))
        else:
            self.show_as("microphone", tr("Mute the microphone (Ctrl+U)"))
