"""The first start: one card over the conversation, with four steps that can each be skipped and
done later.

Invariant: the current step is the setting `window.first_start`, so a killed program continues
there; STEPS or more means that all are done. The steps are made when one is first shown, which most
starts never do. Nothing that is said or pressed while the card is visible becomes a turn.
"""

from collections.abc import Callable, Mapping

from PySide6.QtCore import Signal
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import QFrame, QGridLayout, QStackedWidget, QWidget

from app.bridge import Post
from app.first_start.steps import MicrophoneStep, ModelStep, Step, TalkStep, VoiceStep
from app.language import tr
from app.look.controls import button
from app.look.label import Label
from app.look.layout import Scrolled, Spring, column, page_in, row, wide
from app.look.page import in_lines
from app.look.theme import Theme
from app.status.parts import Parts
from engine.api import Event, Part, Ready, SettingKey, TryMicrophone, Value, VoicesChanged

STEPS = 4
_LARGEST = (560, 380)  # logical pixels; a comfortable line of text


class FirstStart(QWidget):
    """The card with the four steps.

    Signals:
        models: the person wants to see the models.
        key_felt: the talk key was pressed while the card is visible.
    """

    models = Signal()
    key_felt = Signal()

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
        model.models.connect(self.models)
        self.key_felt.connect(talk.feel_key)
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
