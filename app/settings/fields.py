"""One editor for each kind of setting, all with the same interface: show a value, report a change.

Invariant: showing a value never reports a change; a text is reported when it is complete, not
letter by letter.
"""

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QLocale, QSignalBlocker, Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent, QKeySequence
from PySide6.QtWidgets import QDoubleSpinBox, QFileDialog, QLineEdit, QPlainTextEdit, QWidget

from app.keys import native
from app.language import tr, translated
from app.look.controls import ElidedBox, IconButton, Switch
from app.look.file_dialogs import ask_for
from app.look.label import Label, WrappingLabel
from app.look.layout import column, row, wide
from app.look.plain_text import one_line
from app.look.theme import Theme
from app.settings.form import Field
from app.status.parts import Parts
from engine.api import HEARD, SPOKEN, Part, Value, language_of_system, settings

Entry = settings.Entry
Options = list[tuple[str, str]]
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

    def refresh(self) -> None:
        """Offer the choices that exist now. Editors without choices ignore this."""


def editor(field: Field, theme: Theme, parts: Parts, parent: QWidget) -> Editor:
    """Return an editor for the values that the field allows."""
    match field.rule:
        case settings.Choice(labels):
            options = [(word, translated(label)) for word, label in labels.items()]
            return ChoiceEditor(field, lambda: options, parent)
        case settings.Range():
            return NumberEditor(field, field.rule, parent)
        case settings.Flag():
            return FlagEditor(field, theme, parent)
        case settings.Pattern():
            return _text_editor(field, theme, parts, parent)


def _text_editor(field: Field, theme: Theme, parts: Parts, parent: QWidget) -> Editor:
    match field.shown.entry:
        case None:
            return TextEditor(field, QLineEdit(), parent)
        case Entry.PARAGRAPH:
            return TextEditor(field, _Paragraph(), parent)
        case Entry.FILE | Entry.FOLDER:
            return LocationEditor(field, theme, parent)
        case Entry.KEY | Entry.CHORD:
            return KeyEditor(field, parent)
        case Entry.MICROPHONE:
            return ChoiceEditor(field, lambda: _devices(parts, Part.MICROPHONE), parent)
        case Entry.LOUDSPEAKER:
            return ChoiceEditor(field, lambda: _devices(parts, Part.LOUDSPEAKER), parent)
        case Entry.LANGUAGE:
            return ChoiceEditor(field, _languages, parent)


def _devices(parts: Parts, part: Part) -> Options:
    return [("", tr("System default")), *((name, name) for name in parts.devices(part))]


def _languages() -> Options:
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
    """A choice of the (value, label) pairs that `options` returns."""

    def __init__(self, field: Field, options: Callable[[], Options], parent: QWidget) -> None:
        self._box, self._options = ElidedBox(), options
        super().__init__(field, self._box, parent)
        self.refresh()
        self._box.activated.connect(lambda index: self.edited.emit(self._box.itemData(index)))

    def refresh(self) -> None:
        """Offer the choices that exist now; the selection stays."""
        chosen = self._box.currentData()
        self._box.clear()
        for value, label in self._options():
            self._box.addItem(one_line(label), value)
        self.show_value(chosen)

    def show_value(self, value: Value) -> None:
        index = self._box.findData(value)
        if index < 0 and isinstance(value, str) and value:
            # a value that is set but not offered must not look unset
            self._box.addItem(one_line(value), value)
            index = self._box.count() - 1
        self._box.setCurrentIndex(max(0, index))


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

    def __init__(self, field: Field, line: "QLineEdit | _Paragraph", parent: QWidget) -> None:
        self.line, self._text = line, ""
        super().__init__(field, line, parent)
        line.editingFinished.connect(self._on_finished)

    def show_value(self, value: Value) -> None:
        self._text = "" if value is None else str(value)
        if not self.line.isModified():
            self.line.setText(self._text)

    def put(self, text: str) -> None:
        """Set the text, with the same effect as typing it."""
        self.line.setText(text)
        self._on_finished()

    def _on_finished(self) -> None:
        self.line.setModified(False)
        text = self.line.text().strip()
        if text != self._text:
            self._text = text
            self.edited.emit(text)


class LocationEditor(TextEditor):
    """A line with a button that opens the system's dialog."""

    def __init__(self, field: Field, theme: Theme, parent: QWidget) -> None:
        super().__init__(field, QLineEdit(), parent)
        choose = tr("Choose: {label}", label=tr(field.shown.label))
        self.row.addWidget(IconButton("folder", choose, theme, self, self._on_browse))

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


class _Paragraph(QPlainTextEdit):
    """A text of several lines with the interface of a QLineEdit. Tab moves to the next field, as
    everywhere in the dialog.
    """

    editingFinished = Signal()  # noqa: N815 - Qt's name

    def __init__(self) -> None:
        super().__init__()
        self.setTabChangesFocus(True)
        self.setFixedHeight(int(self.fontMetrics().height()) * 4 + 18)

    def text(self) -> str:
        return self.toPlainText()

    def setText(self, text: str) -> None:
        self.setPlainText(text)

    def isModified(self) -> bool:  # noqa: N802 - Qt's name
        return self.document().isModified()

    def setModified(self, on: bool) -> None:  # noqa: N802 - Qt's name
        self.document().setModified(on)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        if self.isModified():
            self.editingFinished.emit()


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
    """A key, or a chord: a key with modifiers, or none."""

    def __init__(self, field: Field, parent: QWidget) -> None:
        self._line = _KeyLine(is_chord=field.shown.entry is Entry.CHORD)
        super().__init__(field, self._line, parent)
        self._line.pressed.connect(self._on_pressed)

    def show_value(self, value: Value) -> None:
        self._line.setText(native(str(value)))

    def _on_pressed(self, name: str) -> None:
        self.show_value(name)
        self.edited.emit(name)


class _KeyLine(QLineEdit):
    """A field for one key: the pressed key becomes the value. Keys that move the focus are
    excepted. In a field for a chord Backspace removes the key.
    """

    pressed = Signal(str)

    def __init__(self, *, is_chord: bool) -> None:
        super().__init__()
        self._name_of = _chord_name if is_chord else _key_name
        self.setReadOnly(True)
        self.setPlaceholderText(tr("None") if is_chord else "")
        several = tr("Click here, then press the keys; Backspace for none")
        self.setToolTip(several if is_chord else tr("Click here, then press the key"))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        name = self._name_of(event)
        if name is None:
            super().keyPressEvent(event)
        else:
            self.pressed.emit(name)


def _key_name(event: QKeyEvent) -> str | None:
    """Return the name of a pressed key; None if it cannot be a value."""
    key = Qt.Key(event.key())
    moves = (*_TABS, Qt.Key.Key_Escape, Qt.Key.Key_Return)
    is_none = key in moves or key in _MODIFIERS or event.modifiers()
    return None if is_none else QKeySequence(key).toString()


def _chord_name(event: QKeyEvent) -> str | None:
    """Return the name of the pressed keys; None if they cannot be a value."""
    combination = event.keyCombination()
    key = combination.key()
    if key in (*_MODIFIERS, *_TABS):
        return None
    if event.modifiers() or _is_function(key):
        return QKeySequence(combination).toString()
    return "" if key in (Qt.Key.Key_Backspace, Qt.Key.Key_Delete) else None


def _is_function(key: Qt.Key) -> bool:
    alone = (Qt.Key.Key_Pause, Qt.Key.Key_ScrollLock, Qt.Key.Key_Menu)
    return Qt.Key.Key_F1 <= key <= Qt.Key.Key_F24 or key in alone


class SettingRow(QWidget):
    """A setting's label, its editor, and a line of help."""

    def __init__(self, field: Field, theme: Theme, parts: Parts, parent: QWidget) -> None:
        super().__init__(parent)
        self.editor = editor(field, theme, parts, self)
        label = Label(tr(field.shown.label), self, size=0.95, strong=True)
        label.setBuddy(self.editor.control)  # else its current text is its name on Linux
        self._help = tr(field.shown.help)
        self.line = WrappingLabel(self._help, self, kind="muted", size=0.88)
        self.line.setVisible(bool(self._help))
        self.column = column(label, self.editor, self.line, on=self, spacing=5)

    def say_why(self, why: str) -> None:
        """Append to the help text why 'auto' has its current meaning; empty = append nothing."""
        self.line.setText(f"{self._help}\n{why}".strip())
