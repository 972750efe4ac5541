"""One voice on the page: its facts and its actions.

Invariant: a row changes only when the engine reports a change.
"""

from collections.abc import Callable

from PySide6.QtCore import QSignalBlocker, Qt
from PySide6.QtWidgets import QDoubleSpinBox, QFileDialog, QInputDialog, QWidget

from app.bridge import Post
from app.language import day, decimal, mark, tr
from app.look.controls import button
from app.look.file_dialogs import ask_where
from app.look.layout import TOP, Spring, column, placed, row, wide
from app.look.page import CardRow
from app.look.plain_text import one_line
from app.look.theme import Theme
from app.voice.clip import LONGEST_NAME
from app.voice.learning import ChoiceByEar, HearButton, Learning, LearningLine
from engine import api

STEP = 0.5  # SPS
_AS_THE_SLIDER = api.settings.SLOWEST - STEP  # the value that means no pace of its own


class VoiceRow(CardRow):
    """The row of a voice. `text` returns the preview's sentence; empty = the fixed one."""

    def __init__(
        self,
        entry: api.VoiceEntry,
        post: Post,
        text: Callable[[], str],
        learning: Learning,
        theme: Theme,
        parent: QWidget,
    ) -> None:
        super().__init__(theme, parent)
        self.entry = entry
        self._post = post
        self.actions_of = self.offer(
            {
                tr("Rename"): self.rename,
                tr("Learn from its recording"): lambda: post(api.LearnVoice(self.entry.name)),
                tr("Make again from its recording"): lambda: post(api.RemakeVoice(self.entry.name)),
                tr("Export…"): self.export,
                tr("Remove"): lambda: post(api.RemoveVoice(self.entry.name)),
            }
        )
        self.hear = HearButton(post, lambda: api.PreviewVoice(self.entry.name, text()), self)
        self.use = button(
            tr("Use"), self, lambda: post(api.ChangeSetting(api.SettingKey.VOICE, self.entry.name))
        )
        self.pace = _pace_box(self)
        self.pace.valueChanged.connect(self._on_pace)
        self.learning = LearningLine(learning, self, entry.name)
        self.choice = ChoiceByEar(post, text, self)
        words = column(self.title, self.facts, spacing=2)
        top = row(wide(words), placed(TOP, self.more), spacing=6)
        bottom = row(self.hear, self.use, Spring(), self.pace, spacing=6)
        items = (top, self.learning, self.choice, bottom)
        column(*items, on=self, margins=(14, 10, 10, 10), spacing=6)
        self.show_entry(entry, api.VoicesChanged((), ""))

    def show_entry(self, entry: api.VoiceEntry, voices: api.VoicesChanged) -> None:
        """Show the voice's current details, and whether it is the one of its language."""
        self.entry = entry
        shown = one_line(entry.name)
        self.title.setText(shown)
        self.facts.setText(_facts(entry))
        self.hear.setEnabled(entry.usable)
        self.hear.setAccessibleName(tr("Hear {name}", name=shown))
        speaks, is_chosen = entry.name == voices.selected, entry.name in voices.chosen
        states = {tr("Speaks now"): speaks, tr("Chosen"): is_chosen}
        state = next((words for words, applies in states.items() if applies), "")
        self.use.setText(state or tr("Use"))
        self.use.setEnabled(entry.usable and not state)
        self.use.setAccessibleName(f"{shown}: {state}" if state else tr("Use {name}", name=shown))
        self.more.setVisible(not entry.own)
        self.more.setAccessibleName(tr("More for {name}", name=shown))
        self.actions_of[tr("Make again from its recording")].setEnabled(entry.again)
        can_learn = entry.can_learn and entry.words is None and entry.fit is None
        self.actions_of[tr("Learn from its recording")].setEnabled(can_learn)
        had_focus = self.choice.isAncestorOf(self.window().focusWidget())
        self.choice.show_entry(entry)
        if had_focus and self.choice.isHidden():  # or it would go to an action of another row
            self.hear.setFocus()
        self.pace.setAccessibleName(tr("Pace of {name}", name=shown))
        with QSignalBlocker(self.pace):
            self.pace.setValue(_AS_THE_SLIDER if entry.pace is None else entry.pace)

    def rename(self) -> QInputDialog:
        """Ask for a name in a dialog that does not block the program."""
        dialog = QInputDialog(self)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.setWindowTitle(tr("Rename"))
        dialog.setLabelText(tr("New name of the voice"))
        dialog.setTextValue(one_line(self.entry.name))
        dialog.textValueSelected.connect(self._on_renamed)
        dialog.open()
        return dialog

    def export(self) -> QFileDialog:
        """Ask for a file in a dialog that does not block the program."""
        name = self.entry.name
        safe = "".join(each if each.isalnum() else "-" for each in name)
        post = self._post
        return ask_where(
            self.window(),
            tr("Export the voice"),
            f"{safe}.voice.safetensors",
            {mark("Voices (*.safetensors)"): ""},  # the person may call it otherwise
            lambda path: post(api.ExportVoice(name, path)),
        )

    def _on_renamed(self, name: str) -> None:
        new = name.strip()[:LONGEST_NAME]
        if new and new != self.entry.name:
            self._post(api.RenameVoice(self.entry.name, new))

    def _on_pace(self, value: float) -> None:
        slowest = api.settings.SLOWEST
        self._post(api.SetVoicePace(self.entry.name, None if value < slowest else value))


def _facts(entry: api.VoiceEntry) -> str:
    facts = [one_line(entry.description)] if entry.description else []
    if entry.own and not facts:
        facts = [tr("comes with the program")]
    elif entry.own:
        facts.append(tr("a stock voice"))
    if entry.clip_s is not None:
        seconds = decimal(entry.clip_s, 1)
        if entry.learnt:
            facts.append(tr("learnt from your recording of {seconds} s", seconds=seconds))
        elif entry.resembles:
            facts.append(tr("a blend like your recording of {seconds} s", seconds=seconds))
        else:
            facts.append(tr("made of {seconds} s", seconds=seconds))
    if entry.snr_db is not None:
        facts.append(tr("{level} dB above its noise", level=decimal(entry.snr_db, 0)))
    if not entry.own:
        models = dict.fromkeys(each.partition(" ")[0] for each in entry.made_for)
        facts.append(tr("for {models}", models=one_line(", ".join(models))))
    used = tr("last used {date}", date=day(entry.used)) if entry.used else tr("not used yet")
    facts.append(used)
    said = " · ".join(facts)
    return f"{said}\n{entry.why_not}" if entry.why_not else said


def _pace_box(parent: QWidget) -> QDoubleSpinBox:
    box = QDoubleSpinBox(parent)
    box.setRange(_AS_THE_SLIDER, api.settings.FAST_LIMIT)
    box.setSingleStep(STEP)
    box.setDecimals(1)
    box.setAlignment(Qt.AlignmentFlag.AlignCenter)
    box.setSpecialValueText(tr("as fast as the slider says"))
    box.setSuffix(tr(" syllables a second"))
    box.setToolTip(tr("How fast it begins when it is chosen"))
    box.setKeyboardTracking(False)
    box.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
    return box
