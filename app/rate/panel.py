"""The panel for the speaking rate: slider, readout of target and measured rate, and their trace.

Invariant: every change by the person is posted at once, and none that the engine reports. Whatever
the readout says, the slider keeps its place.
"""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QBoxLayout, QVBoxLayout, QWidget

from app.bridge import Post
from app.language.words import decimal, tr
from app.look.label import FoldingLabel, Label
from app.look.plain_text import tool_tip
from app.look.theme import Theme, scaled
from app.rate.slider import RateSlider
from app.rate.trace import RateTrace
from engine.api import (
    ChangeSetting,
    Event,
    Phase,
    PhaseChanged,
    RateMeasured,
    SettingChanged,
    VoicesChanged,
)

RATE_KEY = "speech.rate"


class RatePanel(QWidget):
    """Everything about the rate in one place."""

    def __init__(self, post: Post, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._post = post
        self._measured: float | None = None
        self.slider = RateSlider(theme, self)
        self.trace = RateTrace(theme, self)
        self.heading = Label(tr("Speaking rate"), self)
        self.heading.setFont(scaled(self.font(), 1.0, strong=True))
        self.heading.setBuddy(self.slider)
        self.readout = FoldingLabel("", self)
        self.readout.setProperty("kind", "muted")
        self.readout.setFont(scaled(self.font(), 0.92, figures=True))
        self.readout.be_one_line(True)
        self.unit = Label(tr("syllables per second"), self)
        self.unit.setProperty("kind", "muted")
        self.unit.setFont(scaled(self.font(), 0.82))
        self.unit.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        self._lay_out()
        self.slider.rate_changed.connect(self._on_rate)
        self.slider.shown_changed.connect(self._show_readout)
        self.be_compact(False)
        self._show_readout()

    def on_event(self, event: Event) -> None:
        match event:
            case RateMeasured(_, target, measured):
                self._measured = measured
                self.slider.show_measured(measured)
                self.trace.add(target, measured)
                self._show_readout()
            case SettingChanged(key, value) if key == RATE_KEY:
                self.show_rate(value if isinstance(value, int | float) else None)
            case VoicesChanged(has_rate=has_rate):
                self.slider.setEnabled(has_rate)
                self._show_readout()
            case PhaseChanged(_, Phase.THINKING):
                self._measured = None  # the last reply's rate says nothing about the next
                self._show_readout()
            case _:
                pass

    def show_rate(self, rate: float | None) -> None:
        """Show the current rate, in SPS; None = own pace."""
        self.slider.show_rate(rate)

    def be_compact(self, on: bool) -> None:
        """In a narrow window, hide trace and unit to make room for the conversation."""
        for widget in (self.trace, self.unit):
            widget.setVisible(not on)
        directions, sides = QBoxLayout.Direction, Qt.AlignmentFlag
        self.readout.setAlignment(
            (sides.AlignLeft if on else sides.AlignRight) | sides.AlignVCenter
        )
        self._top.setSpacing(1 if on else 6)
        self._top.setDirection(directions.TopToBottom if on else directions.LeftToRight)

    def _on_rate(self, rate: float | None) -> None:
        self._post(ChangeSetting(RATE_KEY, rate))

    def _show_readout(self) -> None:
        rate = self.slider.rate
        if not self.slider.isEnabled():
            words = tr("This voice has no rate to be set: it keeps its own pace")
            self.readout.setText(words)
            self.readout.setToolTip(tool_tip(words))
            return
        target = tr("own pace") if rate is None else tr("target {rate}", rate=decimal(rate, 1))
        if self._measured is not None:
            target += tr(" · measured {measured}", measured=decimal(self._measured, 1))
        self.readout.setText(target)
        self.readout.setToolTip(tool_tip(target + "\n" + tr("In syllables per second")))

    def _lay_out(self) -> None:
        self._top = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._top.addWidget(self.heading)
        self._top.addWidget(self.readout, 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(6)
        column.addLayout(self._top)
        column.addWidget(self.slider)
        column.addWidget(self.unit)
        column.addWidget(self.trace)
