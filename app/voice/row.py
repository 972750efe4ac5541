"""One voice on the page: what it is, and what can be done with it.

Invariant: it only asks and shows; nothing changes until the engine says so.
"""

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QSignalBlocker, Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import (
    QDoubleSpinBox,
    QFileDialog,
    QFrame,
    QHBoxLayout,
    QLineEdit,
    QMenu,
    QPushButton,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from app.bridge import Post
from app.language.words import decimal, tr
from app.look.icons import IconButton
from app.look.label import Label
from app.look.plain_text import one_line
from app.look.theme import Theme, scaled
from app.voice.consent import LONGEST_NAME
from engine.api import (
    ChangeSetting,
    ExportVoice,
    PreviewState,
    PreviewVoice,
    RemakeVoice,
    RemoveVoice,
    RenameVoice,
    SetVoicePace,
    StopPreview,
    VoiceEntry,
    settings,
)

STEP = 0.5  # SPS
_AS_THE_SLIDER = settings.SLOWEST - STEP  # the value that means no pace of its own


class VoiceRow(QFrame):
    """`text` returns the sentence to be heard; empty = the fixed sentence."""

    def __init__(
        self, entry: VoiceEntry, post: Post, text: Callable[[], str], theme: Theme, parent: QWidget
    ) -> None:
        super().__init__(parent)
        self.setProperty("kind", "card")
        self.entry = entry
        self._post = post
        self._text = text
        self._previewed = False
        self.name = Label("", self)
        self.name.setFont(scaled(self.font(), 1.0, strong=True))
        self.new_name = QLineEdit(self)
        self.new_name.setMaxLength(LONGEST_NAME)
        self.new_name.setAccessibleName(tr("New name of the voice"))
        self.new_name.editingFinished.connect(self._on_renamed)
        self.new_name.hide()
        self.facts = Label("", self)
        self.facts.setProperty("kind", "muted")
        self.facts.setFont(scaled(self.font(), 0.9, figures=True))
        for label in (self.name, self.facts):
            label.setWordWrap(True)
        self.more = IconButton("more", tr("More"), theme, self)
        self.hear = QPushButton(tr("Hear"), self)
        self.hear.clicked.connect(self._on_hear)
        self.use = QPushButton(tr("Use"), self)
        self.use.clicked.connect(lambda: post(ChangeSetting("speech.voice", self.entry.name)))
        self.pace = _pace_box(self)
        self.pace.valueChanged.connect(self._on_pace)
        self.actions_of: dict[str, QAction] = {}
        self._make_menu()
        self._lay_out()
        self.show_entry(entry, chosen="")

    def _make_menu(self) -> None:
        post, menu = self._post, QMenu(self)
        self.more.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.more.setMenu(menu)
        for words, act in (
            (tr("Rename"), self.rename),
            (tr("Make again from its recording"), lambda: post(RemakeVoice(self.entry.name))),
            (tr("Export…"), self.export),
            (tr("Remove"), lambda: post(RemoveVoice(self.entry.name))),
        ):
            self.actions_of[words] = action = menu.addAction(words)
            action.triggered.connect(lambda _=False, act=act: act())

    def show_entry(self, entry: VoiceEntry, chosen: str) -> None:
        """Show the voice's current details; `chosen` is the name of the voice that speaks."""
        self.entry = entry
        shown = one_line(entry.name)
        self.name.setText(shown)
        self.facts.setText(_facts(entry))
        self.hear.setEnabled(entry.usable)
        self.hear.setAccessibleName(tr("Hear {name}", name=shown))
        speaks = entry.name == chosen
        self.use.setText(tr("Speaks now") if speaks else tr("Use"))
        self.use.setEnabled(entry.usable and not speaks)
        self.use.setAccessibleName(
            tr("{name} speaks now", name=shown) if speaks else tr("Use {name}", name=shown)
        )
        self.more.setVisible(not entry.own)
        self.more.setAccessibleName(tr("More for {name}", name=shown))
        self.actions_of[tr("Make again from its recording")].setEnabled(entry.again)
        self.pace.setAccessibleName(tr("Pace of {name}", name=shown))
        with QSignalBlocker(self.pace):
            self.pace.setValue(_AS_THE_SLIDER if entry.pace is None else entry.pace)

    def show_preview(self, state: PreviewState) -> None:
        """Show the state of its preview."""
        self._previewed = state is not PreviewState.OVER
        waits = state is PreviewState.WAITING
        self.hear.setText((tr("Waits") if waits else tr("Stop")) if self._previewed else tr("Hear"))
        self.hear.setToolTip(tr("It plays once the reply is over") if waits else "")

    def rename(self) -> None:
        """Let the person edit the name."""
        self.new_name.setText(one_line(self.entry.name))
        self.new_name.selectAll()
        self.name.hide()
        self.new_name.show()
        self.new_name.setFocus(Qt.FocusReason.OtherFocusReason)

    def export(self) -> QFileDialog:
        """Ask for a file in a dialog that does not block the program."""
        safe = "".join(each if each.isalnum() else "-" for each in self.entry.name)
        dialog = QFileDialog(self.window(), tr("Export the voice"), f"{safe}.voice.safetensors")
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setNameFilters([tr("Voices (*.safetensors)")])
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        name = self.entry.name
        dialog.fileSelected.connect(lambda file: self._post(ExportVoice(name, Path(file))))
        dialog.open()
        return dialog

    def _on_hear(self) -> None:
        text = self._text()
        self._post(StopPreview() if self._previewed else PreviewVoice(self.entry.name, text))

    def _on_renamed(self) -> None:
        if not self.new_name.isVisibleTo(self):
            return  # hiding it ends the editing a second time
        new = self.new_name.text().strip()
        self.new_name.hide()
        self.name.show()
        if new and new != self.entry.name:
            self._post(RenameVoice(self.entry.name, new))

    def _on_pace(self, value: float) -> None:
        self._post(SetVoicePace(self.entry.name, None if value < settings.SLOWEST else value))

    def _lay_out(self) -> None:
        words = QVBoxLayout()
        words.setSpacing(2)
        words.addWidget(self.name)
        words.addWidget(self.new_name)
        words.addWidget(self.facts)
        top = QHBoxLayout()
        top.setSpacing(6)
        top.addLayout(words, 1)
        top.addWidget(self.more, 0, Qt.AlignmentFlag.AlignTop)
        bottom = QHBoxLayout()
        bottom.setSpacing(6)
        bottom.addWidget(self.hear)
        bottom.addWidget(self.use)
        bottom.addStretch(1)
        bottom.addWidget(self.pace)
        column = QVBoxLayout(self)
        column.setContentsMargins(14, 10, 10, 10)
        column.setSpacing(6)
        column.addLayout(top)
        column.addLayout(bottom)


def _facts(entry: VoiceEntry) -> str:
    facts = [one_line(entry.description)] if entry.description else []
    if entry.own and not facts:
        facts = [tr("comes with the program")]
    if entry.clip_s is not None:
        seconds = decimal(entry.clip_s, 1)
        facts.append(
            tr("resembles a recording of {seconds} s", seconds=seconds)
            if entry.resembles
            else tr("made of {seconds} s", seconds=seconds)
        )
    if entry.snr_db is not None:
        facts.append(tr("{level} dB above its noise", level=decimal(entry.snr_db, 0)))
    if not entry.own:
        models = dict.fromkeys(each.partition(" ")[0] for each in entry.made_for)
        facts.append(tr("for {models}", models=one_line(", ".join(models))))
    facts.append(tr("last used {date}", date=entry.used) if entry.used else tr("not used yet"))
    said = " · ".join(facts)
    return f"{said}\n{entry.why_not}" if entry.why_not else said


def _pace_box(parent: QWidget) -> QDoubleSpinBox:
    box = QDoubleSpinBox(parent)
    box.setRange(_AS_THE_SLIDER, settings.FASTEST)
    box.setSingleStep(STEP)
    box.setDecimals(1)
    box.setAlignment(Qt.AlignmentFlag.AlignCenter)
    box.setSpecialValueText(tr("pace: the slider's"))
    box.setPrefix(tr("pace: "))
    box.setSuffix(tr(" a second"))
    box.setToolTip(tr("Syllables a second it begins with when it is chosen"))
    box.setKeyboardTracking(False)
    box.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
    return box
