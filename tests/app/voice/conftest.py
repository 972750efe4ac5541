"""The voice area, alone in a window."""

from collections.abc import Callable, Iterator

import pytest
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from app.look.theme import Theme
from app.voice.panel import VoiceArea
from engine.api import Command


@pytest.fixture
def open_area(
    qtbot: QtBot, theme: Theme, posted: list[Command], rubato: Callable[[str], None]
) -> Iterator[Callable[..., VoiceArea]]:
    """Open the area; a script given to it runs in the place of `rubato`."""
    parent = QWidget()
    qtbot.addWidget(parent)
    parent.resize(480, 640)

    def open_area(script: str = "") -> VoiceArea:
        rubato(script)
        area = VoiceArea(posted.append, theme, parent)
        parent.show()
        area.show()
        return area

    yield open_area
    parent.deleteLater()  # until then the parent keeps the area alive


@pytest.fixture
def area(open_area: Callable[..., VoiceArea]) -> VoiceArea:
    return open_area()
