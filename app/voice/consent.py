"""What a recording needs to become a voice: a name, and the person's consent.

Invariant: nothing is sent until the box is ticked; showing another recording clears it.
"""

from PySide6.QtWidgets import QCheckBox, QLineEdit, QWidget

from app.bridge import Post
from app.language.words import tr
from app.look.button import button
from app.look.layout import LEFT, column, placed
from app.look.plain_text import one_line
from engine.api import AddVoice, ClipInspected, PreviewVoice

LONGEST_NAME = 60  # characters; a name is read out and shown in a list


class Consent(QWidget):
    """Name, check box, button; shown for a recording that could become a voice."""

    def __init__(self, post: Post, parent: QWidget) -> None:
        super().__init__(parent)
        self._post = post
        self._clip: ClipInspected | None = None  # None = none was shown yet
        self.name = name_field(self)
        self.agreed = QCheckBox(tr("I &may use this voice"), self)
        self.hear = button(tr("&Hear a voice that resembles it"), self, self._on_hear)
        self.adopt = button("", self, self._on_adopt)
        self.agreed.toggled.connect(self._refresh)
        self.name.textChanged.connect(self._refresh)
        self.name.returnPressed.connect(self.adopt.click)
        buttons = placed(LEFT, self.hear), placed(LEFT, self.adopt)
        column(self.name, self.agreed, *buttons, on=self, spacing=8)
        self.hide()

    def show_clip(self, clip: ClipInspected) -> None:
        """Offer to use it if the recording is suitable and the synthesiser can clone voices."""
        self._clip = clip
        self.agreed.setChecked(False)
        self.name.setText(one_line(clip.clip.stem.replace("_", " "))[:LONGEST_NAME])
        self.adopt.setText(
            tr("&Use a voice that resembles it") if clip.resembles else tr("&Use this voice")
        )
        self.hear.setVisible(clip.resembles and clip.part is None)
        self._refresh()
        self.setVisible(clip.usable and clip.can_clone)

    def _refresh(self) -> None:
        self.hear.setEnabled(self.agreed.isChecked())
        self.adopt.setEnabled(self.agreed.isChecked() and bool(self.name.text().strip()))

    def _on_hear(self) -> None:
        if self._clip is not None:  # the path of a recording names the voice made of it
            self._post(PreviewVoice(str(self._clip.clip.absolute())))

    def _on_adopt(self) -> None:
        if self._clip is not None and self.adopt.isEnabled():
            name, (start_s, seconds) = self.name.text().strip(), self._clip.part or (0.0, None)
            self._post(AddVoice(self._clip.clip, True, name, start_s, seconds))
            self.hide()


def name_field(parent: QWidget) -> QLineEdit:
    """For the name of a new voice."""
    field = QLineEdit(parent)
    field.setMaxLength(LONGEST_NAME)
    field.setPlaceholderText(tr("What to call this voice"))
    field.setAccessibleName(tr("Name of the new voice"))
    return field
