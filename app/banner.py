"""Faults, shown calmly above the conversation until the person has seen them.

Invariant: a fault is never lost and never stops anything: it stays until dismissed, the same one
again only counts, and more than one can be leafed through.
"""

from dataclasses import dataclass

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from app.icons import IconButton, pixmap
from app.label import Label
from app.plain_text import plain
from app.theme import Theme, scaled
from engine.api import Event, Failed

_ICON = 20


@dataclass
class _Fault:
    message: str
    hint: str
    count: int = 1


class Banner(QFrame):
    """One card; hidden while there is nothing to say."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self._faults: list[_Fault] = []
        self._index = 0
        self.setProperty("kind", "fault")
        self.setAccessibleName("Fault")
        self.icon = Label("", self)
        self.message = _wrapping_label(self)
        self.message.setFont(scaled(self.font(), 1.0, strong=True))
        self.hint = _wrapping_label(self)
        self.counter = Label("", self)
        self.earlier = IconButton("chevron-left", "Earlier fault", theme, self)
        self.later = IconButton("chevron-right", "Later fault", theme, self)
        self.dismiss = IconButton("close", "Dismiss this fault", theme, self)
        self.earlier.clicked.connect(lambda: self._leaf(-1))
        self.later.clicked.connect(lambda: self._leaf(1))
        self.dismiss.clicked.connect(self._on_dismissed)
        self._lay_out()
        theme.changed.connect(self._tint)
        self._tint()
        self.hide()

    @property
    def count(self) -> int:
        """How many different faults have not been dismissed."""
        return len(self._faults)

    def on_event(self, event: Event) -> None:
        if isinstance(event, Failed):
            self.add(event.message, event.hint)

    def add(self, message: str, hint: str = "") -> None:
        """Show a fault, or count it again if it has not been dismissed."""
        for index, fault in enumerate(self._faults):
            if (fault.message, fault.hint) == (message, hint):
                fault.count += 1
                self._index = index
                break
        else:
            self._faults.append(_Fault(message, hint))
            self._index = len(self._faults) - 1
        self._show()
        said = plain(f"{message} {hint}")
        QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self, said))

    def _leaf(self, step: int) -> None:
        self._index = (self._index + step) % len(self._faults)
        self._show()

    def _on_dismissed(self) -> None:
        del self._faults[self._index]
        self._index = max(0, min(self._index, len(self._faults) - 1))
        self._show()

    def _show(self) -> None:
        self.setVisible(bool(self._faults))
        if not self._faults:
            return
        fault = self._faults[self._index]
        times = f"  ({fault.count} times)" if fault.count > 1 else ""
        self.message.setText(fault.message + times)
        self.hint.setText(fault.hint)
        self.hint.setVisible(bool(fault.hint))
        several = len(self._faults) > 1
        for widget in (self.earlier, self.counter, self.later):
            widget.setVisible(several)
        self.counter.setText(f"{self._index + 1}/{len(self._faults)}")
        self.setAccessibleDescription(plain(f"{fault.message} {fault.hint}"))

    def _tint(self) -> None:
        ratio = self.devicePixelRatioF()
        image = pixmap("warning", self._theme.colour("danger"), int(_ICON * ratio))
        image.setDevicePixelRatio(ratio)
        self.icon.setPixmap(image)

    def _lay_out(self) -> None:
        words = QVBoxLayout()
        words.setSpacing(2)
        words.addWidget(self.message)
        words.addWidget(self.hint)
        row = QHBoxLayout(self)
        row.setContentsMargins(14, 10, 8, 10)
        row.setSpacing(8)
        top = Qt.AlignmentFlag.AlignTop
        self.icon.setFixedSize(QSize(_ICON, _ICON))
        row.addWidget(self.icon, 0, top)
        row.addLayout(words, 1)
        self.counter.setFixedHeight(self.dismiss.sizeHint().height())
        for widget in (self.earlier, self.counter, self.later, self.dismiss):
            row.addWidget(widget, 0, top)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)


def _wrapping_label(parent: QWidget) -> Label:
    label = Label("", parent)
    label.setWordWrap(True)
    label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    return label
