"""The first start: one card over the empty conversation, with five steps that can each be skipped
and done later.

Invariant: the current step is the setting `window.first_start`, so a killed program continues
there; STEPS means that all are done. The steps are made when one is first shown, which most starts
never do.
"""

from collections.abc import Callable, Mapping

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QPushButton,
    QScrollArea,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from app.bridge import Post
from app.devices import Devices
from app.first_start.steps import (
    EchoStep,
    LoudspeakerStep,
    MicrophoneStep,
    ModelStep,
    Step,
    TalkStep,
)
from app.language.words import tr
from app.look.label import Label
from app.look.overlay import OverlayBar
from app.look.page import in_lines
from app.look.theme import Theme
from engine.api import Event, Value, VoicesChanged

STEP_KEY = "window.first_start"
STEPS = 5
_LARGEST = (560, 440)  # logical pixels; a comfortable line of text


class FirstStart(QWidget):
    """Signals:
    models: the person wants to see the models.
    """

    models = Signal()

    def __init__(
        self,
        post: Post,
        change: Callable[[str, Value], None],
        theme: Theme,
        devices: Devices,
        parent: QWidget,
    ) -> None:
        super().__init__(parent)
        self._post, self._change, self._theme, self._devices = post, change, theme, devices
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
        if isinstance(event, VoicesChanged):
            self._voices = event
        for step in self.steps:
            step.on_event(event)

    def _go(self, at: int) -> None:
        self._change(STEP_KEY, at)

    def _make_steps(self) -> None:
        post, theme, devices = self._post, self._theme, self._devices
        self.steps = [
            MicrophoneStep(theme, devices, self),
            LoudspeakerStep(post, theme, devices, self),
            EchoStep(post, theme, devices, self),
            TalkStep(theme, devices, self),
            model := ModelStep(theme, devices, self),
        ]
        model.models.connect(self.models)
        for step in self.steps:
            step.changed.connect(self._change)
        self._card = QFrame(self)
        self._pages = QStackedWidget(self._card)
        self.progress = Label("", self)
        self.progress.setProperty("kind", "muted")
        self.leave = QPushButton(tr("S&kip all"), self)
        self.back = QPushButton(tr("&Back"), self)
        self.next = QPushButton(tr("&Next"), self)
        self.next.setProperty("kind", "primary")
        self.back.clicked.connect(lambda: self._go(self.at - 1))
        self.next.clicked.connect(lambda: self._go(self.at + 1))
        self.leave.clicked.connect(lambda: self._go(STEPS))
        self._lay_out()
        self.show_values(self._values)
        if self._voices:
            self.on_event(self._voices)

    def _lay_out(self) -> None:
        """From the outside in: what changes its parent is styled anew, with all that is in it."""
        for step in self.steps:
            page = QScrollArea(self._pages)
            self._pages.addWidget(page)
            page.setWidgetResizable(True)
            page.setFrameShape(QFrame.Shape.NoFrame)
            page.setFocusPolicy(Qt.FocusPolicy.NoFocus)
            page.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
            content = QWidget()
            content.setProperty("kind", "page")
            page.setWidget(content)
            inside = QVBoxLayout(content)
            inside.setContentsMargins(0, 0, 8, 0)
            inside.addWidget(step)
            inside.addStretch(1)
            OverlayBar(page)
        self._card.setProperty("kind", "card")
        self._card.setMaximumSize(in_lines(self, *_LARGEST))
        buttons = QHBoxLayout()
        for widget in (self.leave, self.progress):
            buttons.addWidget(widget)
        buttons.addStretch(1)
        for widget in (self.back, self.next):
            buttons.addWidget(widget)
        column = QVBoxLayout(self._card)
        column.setContentsMargins(24, 20, 24, 16)
        column.setSpacing(12)
        column.addWidget(self._pages, 1)
        column.addLayout(buttons)
        around = QGridLayout(self)
        around.setContentsMargins(0, 0, 0, 0)
        around.addWidget(self._card, 0, 0)
