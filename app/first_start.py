"""The first start: one card over the conversation, with four steps that can each be skipped and
done later.

Invariant: the current step is the setting `window.first_start`, so a killed program continues
there; STEPS or more means that all are done. The steps are made when one is first shown, which most
starts never do. Nothing that is said or pressed while the card is visible becomes a turn. A step
changes only the settings that the person changes. Nothing is fetched before the person has pressed
a button that names the size.
"""

import sys
from collections.abc import Callable, Mapping

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QHideEvent, QIcon, QShowEvent
from PySide6.QtWidgets import QFrame, QGridLayout, QPushButton, QStackedWidget, QWidget

from app.bridge import Post
from app.keys import native
from app.language import mark, tr
from app.look.controls import LevelMeter, button, icon
from app.look.label import Label, WrappingLabel
from app.look.layout import LEFT, Scrolled, Spring, column, fill, page_in, placed, row, wide
from app.look.page import in_lines, take_away
from app.look.plain_text import one_line
from app.look.theme import Theme
from app.models import progress_of, size_of
from app.settings.fields import Editor, SettingRow
from app.settings.form import Field, field_of
from app.status.parts import Parts
from engine import api
from engine.api import Event, Part, Ready, SettingKey, TryMicrophone, Value, VoicesChanged

_VOICES = 3  # offered for listening
_NAME = 18  # letters of a voice's name
_VOICE_DB = -38.0  # dB full scale; a person who speaks to the microphone is louder
_SPOKEN = 4  # levels above it, which come ten times a second
# Offered for everywhere, in this order where another program has the one before.
GLOBAL_KEYS = ("Ctrl+Alt+Space", "Ctrl+Alt+R", "Pause")
_HANDS_FREE = Field(
    api.SettingKey.HANDS_FREE,
    api.settings.Flag(),
    api.settings.Shown(
        mark("Hands-free"), help=mark("Just speak. Off: hold the talk key while you speak.")
    ),
)


class Step(QWidget):
    """One page: a question, a line of explanation, and controls.

    Signals:
        changed(key, value): the person changed a setting.
    """

    changed = Signal(str, object)
    title = ""
    words = ""

    def __init__(self, theme: Theme, parts: Parts, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme, self._parts = theme, parts
        self.editors: list[Editor] = []
        heading = Label(tr(self.title), self, size=1.5, strong=True)
        self.column = column(heading, on=self, spacing=12)
        self.say(tr(self.words))

    def say(self, words: str) -> WrappingLabel:
        """Add a line of explanation."""
        line = WrappingLabel(words, self, kind="muted")
        self.column.addWidget(line)
        return line

    def ask(self, field: Field) -> None:
        """Add the editor of a setting, as in the settings dialog."""
        row = SettingRow(field, self._theme, self._parts, self)
        row.editor.edited.connect(lambda value: self.changed.emit(field.key, value))
        self.editors.append(row.editor)
        self.column.addWidget(row)

    def button(self, words: str, act: Callable[[], object] | None) -> QPushButton:
        """Add a button on the left."""
        made = button(words, self, act)
        fill(self.column, placed(LEFT, made))
        return made

    def show_values(self, values: Mapping[str, api.Value]) -> None:
        for each in self.editors:
            each.show_value(values[each.field.key])

    def on_event(self, event: api.Event) -> None:
        """Handle an event. New devices are added to the choices of the editors."""
        if isinstance(event, api.DevicesChanged):
            for each in self.editors:
                each.refresh()


class MicrophoneStep(Step):
    title = mark("Can I hear you?")
    words = mark("Say something: the bar moves when your microphone works.")

    def __init__(self, theme: Theme, parts: Parts, parent: QWidget) -> None:
        super().__init__(theme, parts, parent)
        self.meter = LevelMeter(tr("Microphone"), self)
        self.column.addWidget(self.meter)
        self.verdict = self.say(tr("I have not heard a voice yet."))
        self.ask(field_of(api.SettingKey.MICROPHONE))
        self._loud = 0

    def on_event(self, event: api.Event) -> None:
        super().on_event(event)
        if isinstance(event, api.Levels):
            self.meter.show_level(event.microphone_db)
            self._loud += event.microphone_db > _VOICE_DB
            if self._loud == _SPOKEN:
                self.verdict.setText(tr("I hear you."))


class VoiceStep(Step):
    title = mark("Can you hear me?")
    words = mark("Press a name to hear a sentence. The marked one will speak to you.")

    def __init__(self, post: Post, theme: Theme, parts: Parts, parent: QWidget) -> None:
        super().__init__(theme, parts, parent)
        self._post = post
        self.voices: dict[str, QPushButton] = {}  # by name
        self._row = row(Spring())
        self.column.addLayout(self._row)
        self._waiting = self.say(tr("The voices are being made ready."))
        self.fetch = self.button("", lambda: post(api.FetchModels((api.KOKORO,), use=True)))
        self.fetched = self.say("")
        for each in (self.fetch, self.fetched):
            each.hide()
        self._has_asked = False  # whether the natural voice is here
        self.ask(field_of(api.SettingKey.LOUDSPEAKER))

    def on_event(self, event: api.Event) -> None:
        super().on_event(event)
        match event:
            case api.VoicesChanged(selected=selected):
                self._offer(event.alike, selected)
                if not self._has_asked:  # not before: now the engine answers
                    self._has_asked = True
                    self._post(api.ListModels())
            case api.ModelsListed(entries):
                for each in entries:
                    if each.name == api.KOKORO:
                        self._offer_natural(each)
            case api.ModelProgress(name=name) if name == api.KOKORO:
                self._say_fetched(progress_of(event), is_busy=True)
            case api.ModelSettled(name=name, text=text, failed=failed) if name == api.KOKORO:
                self._say_fetched(text if failed else "", is_busy=False)

    def _offer_natural(self, voice: api.ModelEntry) -> None:
        size = size_of(voice.megabytes)
        self.fetch.setText(tr("&Fetch a more natural voice: {size}", size=size))
        self.fetch.setVisible(voice.fits and voice.state is not api.Presence.COMPLETE)

    def _say_fetched(self, text: str, *, is_busy: bool) -> None:
        self.fetch.setEnabled(not is_busy)
        self.fetched.say(text)

    def _offer(self, names: tuple[str, ...], selected: str) -> None:
        # one that speaks from a file has no name to choose it by
        chosen = [selected] if selected in names else []
        first = [*chosen, *(name for name in names if name != selected)]
        shown = sorted(first[:_VOICES], key=names.index)
        if shown != list(self.voices):
            for each in self.voices.values():
                take_away(each)
            self.voices = {name: self._voice(name) for name in shown}
            for place, each in enumerate(self.voices.values()):
                self._row.insertWidget(place, each)
        self._waiting.setVisible(not self.voices)
        self._mark(selected)

    def _voice(self, name: str) -> QPushButton:
        line, metrics = one_line(name), self.fontMetrics()
        room = _NAME * metrics.averageCharWidth()
        words = metrics.elidedText(line, Qt.TextElideMode.ElideRight, room).replace("&", "&&")
        spoken = tr("Hear {name}", name=line)
        made = button(words, self, lambda: self._hear(name), kind="choice", name=spoken)
        made.setCheckable(True)
        made.setMinimumWidth(1)  # three of them fit into any card
        return made

    def _mark(self, selected: str) -> None:
        """Mark the chosen voice with a check mark, because a colour alone is not enough."""
        mark = icon("check", self._theme.colour("accent"))
        for name, each in self.voices.items():
            each.setChecked(name == selected)
            each.setIcon(mark if name == selected else QIcon())

    def _hear(self, name: str) -> None:
        self._mark(name)
        self._post(api.PreviewVoice(name))
        self.changed.emit(api.SettingKey.VOICE, name)


class TalkStep(Step):
    title = mark("How will you talk to me?")
    words = mark("By speaking alone, or with a key that you hold while you speak.")

    def __init__(self, theme: Theme, parts: Parts, parent: QWidget) -> None:
        super().__init__(theme, parts, parent)
        self.ask(_HANDS_FREE)
        self._offered = 0  # which of the keys
        self._key = ""  # the one that is chosen
        self.everywhere = self.button("", self._on_everywhere)
        self.verdict = self.say("")
        self._show_key()

    def show_values(self, values: Mapping[str, api.Value]) -> None:
        super().show_values(values)
        if values[api.SettingKey.TALK_KEY_EVERYWHERE] != self._key:
            self._key = str(values[api.SettingKey.TALK_KEY_EVERYWHERE])
            self._show_key()

    def feel_key(self, *, everywhere: bool = False) -> None:
        """Confirm that the pressed talk key works. The press does not start a turn here."""
        works = tr("That works: hold it while you speak.")
        self.verdict.say(tr("That key works everywhere.") if everywhere else works)

    def show_given(self, keys: str) -> None:
        """Name the keys that the desktop chose, which may differ from the proposed ones."""
        self.verdict.say(f"{keys}. {tr('Press it now, here or in another program.')}")

    def on_event(self, event: api.Event) -> None:
        super().on_event(event)
        match event:
            case api.Failed(code="global key", message=message, hint=hint):
                self._offered = (self._offered + 1) % len(GLOBAL_KEYS)
                self._show_key(f"{message} {hint}")

    def _on_everywhere(self) -> None:
        self.changed.emit(api.SettingKey.TALK_KEY_EVERYWHERE, GLOBAL_KEYS[self._offered])

    def _show_key(self, fault: str = "") -> None:
        """Offer a global talk key; if one is chosen, ask the person to try it."""
        offered = native(GLOBAL_KEYS[self._offered])
        self.everywhere.setText(tr("Talk from &every program with {key}", key=offered))
        has_key = bool(self._key) and not fault
        self.everywhere.setVisible(not has_key and sys.platform != "darwin")
        ask = tr("Press {key} now, here or in another program.", key=native(self._key))
        self.verdict.say(fault or (ask if has_key else ""))


class ModelStep(Step):
    """Offer a language model."""

    title = mark("How clever shall I be?")
    words = mark(
        "The built-in skills answer at once: time, sums, units, timers, spelling. For open"
        " questions a language model is fetched, or a server on this machine is used. Nothing is"
        " fetched before you have seen its size."
    )

    def __init__(self, theme: Theme, parts: Parts, parent: QWidget) -> None:
        super().__init__(theme, parts, parent)
        self.open = self.button(tr("&Show the models"), None)


STEPS = 4
_LARGEST = (560, 380)  # logical pixels; a comfortable line of text


class FirstStart(QWidget):
    """The card with the four steps.

    Signals:
        models: the person wants to see the models.
        key_felt: the talk key was pressed while the card is visible.
        key_felt_everywhere: the global talk key was pressed.
        keys_given(str): the desktop chose which keys work everywhere.
    """

    models = Signal()
    key_felt = Signal()
    key_felt_everywhere = Signal()
    keys_given = Signal(str)

    def __init__(
        self,
        post: Post,
        change: Callable[[str, Value], None],
        theme: Theme,
        parts: Parts,
        parent: QWidget,
    ) -> None:
        super().__init__(parent)
        self._post, self._change, self._theme, self._parts = post, change, theme, parts
        self.steps: list[Step] = []
        self.at = 0
        self._values: Mapping[str, Value] = {}
        self._voices: VoicesChanged | None = None

    @property
    def is_done(self) -> bool:
        return self.at >= STEPS

    def show_step(self, at: int) -> None:
        """Show a step, counted from 0; beyond the last one, close the card."""
        self.at = max(0, at)
        if self.is_done:
            return
        if not self.steps:
            self._make_steps()
        self._pages.setCurrentIndex(self.at)
        self.progress.setText(tr("{at} of {steps}", at=self.at + 1, steps=STEPS))
        self.back.setEnabled(self.at > 0)
        self.next.setText(tr("&Done") if self.at + 1 == STEPS else tr("&Next"))

    def show_values(self, values: Mapping[str, Value]) -> None:
        self._values = values
        for step in self.steps:
            step.show_values(values)

    def on_event(self, event: Event) -> None:
        match event:
            case VoicesChanged():
                self._voices = event
            case Ready(part=Part.MICROPHONE) if self.isVisible():  # now it can be tried
                self._post(TryMicrophone(True))
        for step in self.steps:
            step.on_event(event)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if not event.spontaneous():
            self._post(TryMicrophone(True))

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        if not event.spontaneous() and self.steps:
            self._post(TryMicrophone(False))

    def _go(self, at: int) -> None:
        self._change(SettingKey.FIRST_START, at)

    def _make_steps(self) -> None:
        post, theme, parts = self._post, self._theme, self._parts
        self.steps = [
            MicrophoneStep(theme, parts, self),
            VoiceStep(post, theme, parts, self),
            talk := TalkStep(theme, parts, self),
            model := ModelStep(theme, parts, self),
        ]
        model.open.clicked.connect(self.models)
        self.key_felt.connect(talk.feel_key)
        self.key_felt_everywhere.connect(lambda: talk.feel_key(everywhere=True))
        self.keys_given.connect(talk.show_given)
        for step in self.steps:
            step.changed.connect(self._change)
        self._card = QFrame(self)
        self._pages = QStackedWidget(self._card)
        self.progress = Label("", self, kind="muted")
        self.leave = button(tr("S&kip all"), self, lambda: self._go(STEPS))
        self.back = button(tr("&Back"), self, lambda: self._go(self.at - 1))
        self.next = button(tr("&Next"), self, lambda: self._go(self.at + 1), kind="primary")
        self._lay_out()
        self.show_values(self._values)
        if self._voices:
            self.on_event(self._voices)

    def _lay_out(self) -> None:
        """Build parents first: Qt restyles a widget when it is reparented."""
        for step in self.steps:
            content = page_in()
            self._pages.addWidget(Scrolled(content, self._pages))
            column(step, Spring(), on=content, margins=(0, 0, 8, 0))
        self._card.setProperty("kind", "card")
        self._card.setMaximumSize(in_lines(self, *_LARGEST))
        buttons = row(self.leave, self.progress, Spring(), self.back, self.next)
        pages = wide(self._pages)
        column(pages, buttons, on=self._card, margins=(24, 20, 24, 16), spacing=12)
        around = QGridLayout(self)
        around.setContentsMargins(0, 0, 0, 0)
        around.addWidget(self._card, 0, 0)
