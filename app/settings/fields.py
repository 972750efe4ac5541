"""One editor for each kind of setting, all with the same interface: show a value, report a change.

Invariant: showing a value never reports a change; a text is reported when it is complete, not
letter by letter.
"""

from pathlib import Path

from PySide6.QtCore import QLocale, QSignalBlocker, Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent, QKeySequence
from PySide6.QtWidgets import QDoubleSpinBox, QFileDialog, QLineEdit, QPlainTextEdit, QWidget

from app.devices import DEFAULT_LABEL, Devices
from app.keys import native
from app.language import tr, translated
from app.look.controls import ElidedBox, IconButton, Switch
from app.look.file_dialogs import ask_for
from app.look.label import Label, WrappingLabel
from app.look.layout import column, row, wide
from app.look.plain_text import one_line
from app.look.theme import Theme
from app.settings.form import Field
from engine.api import HEARD, SPOKEN, Part, Value, language_of_system, settings

Entry = settings.Entry


_NAMED_BY_QT = {"jw": "jv"}  # Whisper's code of Javanese
_MODIFIERS = (Qt.Key.Key_Shift, Qt.Key.Key_Control, Qt.Key.Key_Alt, Qt.Key.Key_Meta)
_TABS = (Qt.Key.Key_Tab, Qt.Key.Key_Backtab)


class Editor(QWidget):
    """The editor of a setting.

    Signals:
        edited(value): the person changed the value.
    """

    edited = Signal(object)

    def __init__(self, field: Field, control: QWidget, parent: QWidget) -> None:
        super().__init__(parent)
        self.field = field
        self.control = control
        control.setParent(self)
        control.setAccessibleName(tr(field.shown.label))
        control.setAccessibleDescription(tr(field.shown.help))
        self.row = row(wide(control), on=self)
        self.setFocusProxy(control)

    def show_value(self, value: Value) -> None:
        raise NotImplementedError

    def offer_devices(self, devices: Devices) -> None:
        """Update the choices after a change of devices. Editors of other settings ignore this."""


def editor(field: Field, theme: Theme, devices: Devices, parent: QWidget) -> Editor:
    """Return an editor for the values that the field allows."""
    match field.rule:
        case settings.Choice(labels):
            options = [(word, translated(label)) for word, label in labels.items()]
            return ChoiceEditor(field, options, parent)
        case settings.Range():
            return NumberEditor(field, field.rule, parent)
        case settings.Flag():
            return FlagEditor(field, theme, parent)
        case settings.Pattern():
            return _text_editor(field, theme, devices, parent)


def _text_editor(field: Field, theme: Theme, devices: Devices, parent: QWidget) -> Editor:
    match field.shown.entry:
        case None:
            return LineEditor(field, parent)
        case Entry.PARAGRAPH:
            return ParagraphEditor(field, parent)
        case Entry.FILE | Entry.FOLDER:
            return LocationEditor(field, theme, parent)
        case Entry.KEY:
            return KeyEditor(field, _KeyLine(), parent)
        case Entry.CHORD:
            return KeyEditor(field, _ChordLine(), parent)
        case Entry.MICROPHONE | Entry.LOUDSPEAKER:
            return DeviceEditor(field, devices, parent)
        case Entry.LANGUAGE:
            return ChoiceEditor(field, _languages(), parent)


def _languages() -> list[tuple[str, str]]:
    """Return the recogniser's languages, each by its own name."""
    named = sorted(((code, _own_name(code)) for code in HEARD), key=lambda each: each[1].casefold())
    system = tr("That of the system ({language})", language=_own_name(language_of_system()))
    return [(settings.OF_SYSTEM, system), (settings.AUTO, tr("Detected by Whisper")), *named]


def _own_name(code: str) -> str:
    """Return a language's own name. Qt adds the country to some names."""
    if code in SPOKEN:
        return SPOKEN[code].title
    name = QLocale(_NAMED_BY_QT.get(code, code)).nativeLanguageName() or code
    return name[:1].upper() + name[1:]


class ChoiceEditor(Editor):
    def __init__(self, field: Field, options: list[tuple[str, str]], parent: QWidget) -> None:
        self._box = ElidedBox()
        super().__init__(field, self._box, parent)
        self.offer(options)
        self._box.activated.connect(lambda index: self.edited.emit(self._box.itemData(index)))

    def offer(self, options: list[tuple[str, str]]) -> None:
        """Replace the (value, label) pairs; the selection stays if its value still exists."""
        chosen = self._box.currentData()
        self._box.clear()
        for value, label in options:
            self._box.addItem(one_line(label), value)
        self.show_value(chosen)

    def show_value(self, value: Value) -> None:
        index = self._box.findData(value)
        if index < 0 and isinstance(value, str) and value:
            # a value that is set but not offered must not look unset
            self._box.addItem(one_line(value), value)
            index = self._box.count() - 1
        self._box.setCurrentIndex(max(0, index))


class DeviceEditor(ChoiceEditor):
    """The choice of a connected microphone or loudspeaker."""

    def __init__(self, field: Field, devices: Devices, parent: QWidget) -> None:
        super().__init__(field, [], parent)
        self.offer_devices(devices)

    def offer_devices(self, devices: Devices) -> None:
        is_microphone = self.field.shown.entry is Entry.MICROPHONE
        names = devices.names(Part.MICROPHONE if is_microphone else Part.LOUDSPEAKER)
        self.offer([("", tr(DEFAULT_LABEL)), *((name, name) for name in names)])


class NumberEditor(Editor):
    """A number. While the person types, changes from elsewhere are not shown."""

    def __init__(self, field: Field, rule: settings.Range, parent: QWidget) -> None:
        self._box = QDoubleSpinBox()
        self._decimals = len(f"{rule.step:g}".partition(".")[2])  # as many as a step has
        self._box.setDecimals(self._decimals)
        self._box.setRange(rule.lowest, rule.highest if rule.offered is None else rule.offered)
        self._box.setSingleStep(rule.step)
        self._box.setSuffix(rule.unit)
        self._box.setKeyboardTracking(False)
        self._box.lineEdit().setTextMargins(9, 0, 0, 0)  # style sheets do not reach its padding
        super().__init__(field, self._box, parent)
        self._in_force: Value = None
        self._is_typing = False
        self._box.lineEdit().textEdited.connect(self._on_typed)
        self._box.editingFinished.connect(self._on_finished)
        self._box.valueChanged.connect(self._report)

    def show_value(self, value: Value) -> None:
        if isinstance(value, int | float):
            self._in_force = value
            if not self._is_typing:
                with QSignalBlocker(self._box):
                    self._box.setValue(value)

    def _on_typed(self) -> None:
        self._is_typing = True

    def _on_finished(self) -> None:
        """Report the typed number, even if it equals the previous value."""
        if self._is_typing:
            self._is_typing = False
            self._report(self._box.value())

    def _report(self, number: float) -> None:
        value = number if self._decimals else round(number)
        if value != self._in_force:
            self._in_force = value
            self.edited.emit(value)


class TextEditor(Editor):
    """Reports a complete text if it differs from the current value."""

    _text = ""

    def show_value(self, value: Value) -> None:
        self._text = "" if value is None else str(value)

    def finish(self, text: str) -> None:
        text = text.strip()
        if text != self._text:
            self._text = text
            self.edited.emit(text)


class LineEditor(TextEditor):
    def __init__(self, field: Field, parent: QWidget) -> None:
        self.line = QLineEdit()
        super().__init__(field, self.line, parent)
        self.line.editingFinished.connect(self._on_finished)

    def show_value(self, value: Value) -> None:
        super().show_value(value)
        if not self.line.isModified():
            self.line.setText(self._text)

    def put(self, text: str) -> None:
        """Set the text, with the same effect as typing it."""
        self.line.setText(text)
        self._on_finished()

    def _on_finished(self) -> None:
        self.line.setModified(False)
        self.finish(self.line.text())


class LocationEditor(LineEditor):
    """A line with a button that opens the system's dialog."""

    def __init__(self, field: Field, theme: Theme, parent: QWidget) -> None:
        super().__init__(field, parent)
        choose = tr("Choose: {label}", label=tr(field.shown.label))
        self.browse = IconButton("folder", choose, theme, self, self._on_browse)
        self.row.addWidget(self.browse)

    def _on_browse(self) -> None:
        modes = QFileDialog.FileMode
        is_folder = self.field.shown.entry is Entry.FOLDER
        ask_for(
            self.window(),
            tr(self.field.shown.label),
            lambda path: self.put(str(path)),
            within=str(Path(self.line.text()).parent),
            mode=modes.Directory if is_folder else modes.ExistingFile,
        )


class ParagraphEditor(TextEditor):
    def __init__(self, field: Field, parent: QWidget) -> None:
        self._box = _Paragraph()
        super().__init__(field, self._box, parent)
        self._box.left.connect(self._on_left)

    def show_value(self, value: Value) -> None:
        super().show_value(value)
        if not self._box.document().isModified():
            self._box.setPlainText(self._text)

    def _on_left(self) -> None:
        if self._box.document().isModified():
            self._box.document().setModified(False)
            self.finish(self._box.toPlainText())


class _Paragraph(QPlainTextEdit):
    """A text of several lines. Tab moves to the next field, as everywhere in the dialog."""

    left = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setTabChangesFocus(True)
        self.setFixedHeight(int(self.fontMetrics().height()) * 4 + 18)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.left.emit()


class FlagEditor(Editor):
    def __init__(self, field: Field, theme: Theme, parent: QWidget) -> None:
        self._switch = Switch("", theme, parent)
        super().__init__(field, self._switch, parent)
        self._switch.toggled.connect(lambda on: self.edited.emit(on))

    def show_value(self, value: Value) -> None:
        with QSignalBlocker(self._switch):
            self._switch.setChecked(bool(value))
        self._switch.update()


class KeyEditor(Editor):
    def __init__(self, field: Field, line: "_KeyLine", parent: QWidget) -> None:
        self._line = line
        super().__init__(field, self._line, parent)
        self._line.pressed.connect(self._on_pressed)

    def show_value(self, value: Value) -> None:
        self._line.setText(native(str(value)))

    def _on_pressed(self, name: str) -> None:
        self.show_value(name)
        self.edited.emit(name)


class _KeyLine(QLineEdit):
    """A field for one key: the pressed key becomes the value. Keys that move the focus are
    excepted.
    """

    pressed = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.setReadOnly(True)
        self.setToolTip(tr("Click here, then press the key"))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key = Qt.Key(event.key())
        moves = (*_TABS, Qt.Key.Key_Escape, Qt.Key.Key_Return)
        if key in moves or key in _MODIFIERS or event.modifiers():
            super().keyPressEvent(event)
            return
        self.pressed.emit(QKeySequence(key).toString())


class _ChordLine(_KeyLine):
    """A field for a key with modifiers. Backspace removes the key."""

    def __init__(self) -> None:
        super().__init__()
        self.setPlaceholderText(tr("None"))
        self.setToolTip(tr("Click here, then press the keys; Backspace for none"))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        combination = event.keyCombination()
        if combination.key() in (*_MODIFIERS, *_TABS):
            QLineEdit.keyPressEvent(self, event)
        elif event.modifiers() or _is_function(combination.key()):
            self.pressed.emit(QKeySequence(combination).toString())
        elif combination.key() in (Qt.Key.Key_Backspace, Qt.Key.Key_Delete):
            self.pressed.emit("")
        else:
            QLineEdit.keyPressEvent(self, event)


def _is_function(key: Qt.Key) -> bool:
    alone = (Qt.Key.Key_Pause, Qt.Key.Key_ScrollLock, Qt.Key.Key_Menu)
    return Qt.Key.Key_F1 <= key <= Qt.Key.Key_F24 or key in alone


class SettingRow(QWidget):
    """A setting's label, its editor, and a line of help."""

    def __init__(self, field: Field, theme: Theme, devices: Devices, parent: QWidget) -> None:
        super().__init__(parent)
        self.editor = editor(field, theme, devices, self)
        label = Label(tr(field.shown.label), self, size=0.95, strong=True)
        label.setBuddy(self.editor.control)  # else its current text is its name on Linux
        self._help = tr(field.shown.help)
        self.line = WrappingLabel(self._help, self, kind="muted", size=0.88)
        self.line.setVisible(bool(self._help))
        self.column = column(label, self.editor, self.line, on=self, spacing=5)

    def say_why(self, why: str) -> None:
        """Append to the help text why 'auto' has its current meaning; empty = append nothing."""
        self.line.setText(f"{self._help}\n{why}".strip())
