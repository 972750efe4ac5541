"""Faults, shown above the conversation until the person dismisses them, and a short line for
notices, which disappears by itself.

Invariant: a fault is never lost and never blocks anything. It stays until it is dismissed or its
cause is gone. A repeated fault is only counted; of several the newest is shown.
"""

from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import QSize, Qt, QTimer, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QFrame, QSizePolicy, QWidget

from app.language import tr
from app.look.controls import IconButton, button, pixmap
from app.look.label import FoldingLabel, Label, announce
from app.look.layout import MIDDLE, column, placed, row, wide
from app.look.plain_text import plain, tool_tip
from app.look.theme import Theme
from app.status.parts import shown_to_work
from engine.api import KEYBOARD, Ending, Event, Failed, Heard, Notice, Part, Ready, TurnEnded

Direction = QBoxLayout.Direction
_ICON = 20
_HINT_FROM = 560  # logical pixels of width
_MOST_LINES = 6


@dataclass
class _Fault:
    message: str
    hint: str
    turn: int | None = None  # the turn in which it happened; None = outside of turns
    part: Part | None = None  # the part that failed; None = no part
    is_bypassed: bool = False  # another device has taken over
    count: int = 1


class Banner(QFrame):
    """One card; hidden while there is nothing to say.

    Signals:
        fix_wanted(Part): the person wants to fix a part.
    """

    fix_wanted = Signal(object)

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self.faults: list[_Fault] = []  # different ones that have not been dismissed
        self._is_low = False
        self.setProperty("kind", "fault")
        self.setAccessibleName(tr("Fault"))
        self.icon = Label("", self)
        self.message = FoldingLabel("", self, strong=True)
        self.hint = FoldingLabel("", self)
        self.fix = button(tr("&Fix…"), self, kind="sign", by_tab=True)
        self.fix.clicked.connect(lambda: self.fix_wanted.emit(self.faults[-1].part))
        self.counter = Label("", self)
        dismiss = tr("Dismiss this fault")
        self.dismiss = IconButton("close", dismiss, theme, self, self._on_dismissed)
        self._lay_out()
        theme.changed.connect(self._tint)
        self._tint()
        self.hide()

    def on_event(self, event: Event) -> None:
        match event:
            case Failed():
                self._add(_Fault(event.message, event.hint, event.turn, event.part))
            case Ready(part=part, instead=False):
                self._withdraw(lambda fault: fault.part is part)
            case Ready(part=part):
                for fault in self.faults:
                    fault.is_bypassed = fault.is_bypassed or fault.part is part
            case Heard(recogniser=recogniser) if recogniser != KEYBOARD:
                self._withdraw(lambda fault: fault.is_bypassed and fault.part is Part.MICROPHONE)
            case TurnEnded(turn=turn, ending=Ending.COMPLETE):
                self._withdraw(
                    lambda fault: (
                        shown_to_work(fault.part, fault.turn, turn)
                        or (fault.is_bypassed and fault.part is Part.LOUDSPEAKER)
                    )
                )

    def add(self, message: str, hint: str = "") -> None:
        """Show a fault that belongs to no part, or count it again if it is still shown."""
        self._add(_Fault(message, hint))

    def be_low(self, on: bool) -> None:
        """Limit faults to one line, for a low window."""
        if on is not self._is_low:
            self._is_low = on
            self._show()

    def _add(self, new: _Fault) -> None:
        for fault in list(self.faults):
            if (fault.message, fault.hint) == (new.message, new.hint):
                new.count += fault.count
                self.faults.remove(fault)
        self.faults.append(new)
        self._show()
        announce(self, plain(f"{new.message} {new.hint}"))

    def _withdraw(self, is_over: Callable[[_Fault], bool]) -> None:
        """Remove the faults whose cause is gone."""
        self.faults = [fault for fault in self.faults if not is_over(fault)]
        self._show()

    def _on_dismissed(self) -> None:
        self.faults.pop()
        self._show()

    def _show(self) -> None:
        self.setVisible(bool(self.faults))
        if not self.faults:
            return
        fault = self.faults[-1]
        times = tr("  ({count} times)", count=fault.count) if fault.count > 1 else ""
        self.message.setText(fault.message + times)
        self.hint.setText(fault.hint)
        # beside the message on one line, where there is room for it, else below it
        has_room = not self._is_one_line or self.width() >= _HINT_FROM
        self.hint.setVisible(bool(fault.hint) and has_room)
        self._lines.setDirection(
            Direction.LeftToRight if self._is_one_line else Direction.TopToBottom
        )
        for label in (self.message, self.hint):
            label.be_one_line(self._is_one_line)
        text = "\n".join(line for line in (fault.message, fault.hint) if line)
        self.setToolTip(tool_tip(text) if self._is_one_line else "")
        self.fix.setVisible(fault.part is not None)
        count = len(self.faults)
        self.counter.setVisible(count > 1)
        self.counter.setText(f"1/{count}")
        self.setAccessibleDescription(plain(f"{fault.message} {fault.hint}"))

    @property
    def _is_one_line(self) -> bool:
        """True if the fault gets one line: in a low window, beside others, or if too long."""
        lines = self.message.fontMetrics().horizontalAdvance(self.message.text() + self.hint.text())
        return self._is_low or len(self.faults) > 1 or lines > _MOST_LINES * self.width()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._show()

    def _tint(self) -> None:
        danger = self._theme.colour("danger")
        self.icon.setPixmap(pixmap("warning", danger, _ICON, self.devicePixelRatioF()))

    def _lay_out(self) -> None:
        self._lines = column(self.message, wide(self.hint), spacing=2)
        self.icon.setFixedSize(QSize(_ICON, _ICON))
        ends = [placed(MIDDLE, each) for each in (self.counter, self.fix, self.dismiss)]
        line = (placed(MIDDLE, self.icon), wide(self._lines), *ends)
        row(*line, on=self, margins=(14, 6, 8, 6), spacing=8)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)


_SHOWN_MS = 8000  # long enough to read a line twice


class NoticeLine(FoldingLabel):
    """One line with the newest Notice or, while models load, their names. It is shortened at its
    end if the window is too narrow. An empty line has the same height, so the conversation does not
    move. The line never takes the focus.
    """

    def __init__(self, parent: QWidget) -> None:
        super().__init__("", parent, kind="muted", size=0.92)
        self.be_one_line(True)
        self._standing = ""
        self._timer = QTimer(self, singleShot=True, interval=_SHOWN_MS)
        self._timer.timeout.connect(self._on_read)
        self.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.setMinimumHeight(int(self.fontMetrics().height()) + 4)

    def on_event(self, event: Event) -> None:
        if isinstance(event, Notice):
            self.setText(event.text)
            self.setToolTip(tool_tip(event.text))
            self.setAccessibleDescription(self.text())
            self._timer.start()
            announce(self, self.text())

    def set_idle_text(self, text: str) -> None:
        """Set the text to show while no notice is shown; empty = none."""
        self._standing = text
        if not self._timer.isActive():
            self.setText(text)

    def _on_read(self) -> None:
        self.setText(self._standing)
        self.setToolTip("")
        self.setAccessibleDescription("")
