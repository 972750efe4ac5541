"""A person at the window of a whole engine, for tests of the models page."""

import time
from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication

from app.look.theme import Theme
from app.window import Window
from engine.api import Command, Settings
from tests.faults.whole import PATIENCE_S, Whole


class Person:
    """Sees the window, and clicks; events come to it in the order the engine tells them."""

    def __init__(self, engine: Whole, theme: Theme) -> None:
        self.clicks = 0
        self._engine = engine
        self._seen = 0
        self.window = Window(Settings(), self._post, theme)
        self.window.show()

    def _post(self, command: Command) -> None:
        self._engine.post(command)

    def click(self, button: QAbstractButton) -> None:
        self.see(lambda: button.isVisible() and button.isEnabled())
        for _ in range(3):
            QApplication.processEvents()  # it stands where it will be
        self.clicks += 1
        QTest.mouseClick(button, Qt.MouseButton.LeftButton)

    def leave(self) -> None:
        self.window.hide()
        self.window.deleteLater()

    def see(self, condition: Callable[[], object], patience_s: float = PATIENCE_S) -> None:
        deadline = time.monotonic() + patience_s
        while not condition():
            assert time.monotonic() < deadline, self._engine.events[-20:]
            for event in list(self._engine.events)[self._seen :]:
                self._seen += 1
                self.window.on_event(event)
            QApplication.processEvents()
            time.sleep(0.01)
