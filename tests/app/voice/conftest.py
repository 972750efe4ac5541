"""The voice area, alone in a window."""

from collections.abc import Iterator

import pytest
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from app.look.theme import Theme
from app.voice.panel import VoiceArea
from engine.api import Command


@pytest.fixture
def area(qtbot: QtBot, theme: Theme, posted: list[Command]) -> Iterator[VoiceArea]:
    parent = QWidget()
    qtbot.addWidget(parent)
    area = VoiceArea(posted.append, theme, parent)
    parent.resize(480, 640)
    parent.show()
    area.show()
    yield area
    parent.deleteLater()  # until then the parent keeps the area alive
