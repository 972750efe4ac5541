"""A window without a display, and a list in the engine's place.

The platform is set before Qt is imported; a display that is there would make tests depend on it.
Its screen is large enough for the window's first size.
"""

import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

os.environ["QT_QPA_PLATFORM"] = f"offscreen:configfile={Path(__file__).with_name('screen.json')}"

import pytest
from PySide6.QtWidgets import QApplication

from app import background_job, language
from app.look.theme import Mode, Theme
from app.program import make_application
from app.window import Window
from engine.api import Command, Settings
from engine.settings import AudioSettings, WindowSettings
from tests.app.leftovers import clear_away, was_told_to_exit


@pytest.fixture(autouse=True)
def nothing_lives_on() -> Iterator[None]:
    """Set up first, so that it ends last: what a test opened is gone before the next begins, which
    finds the window's words English.
    """
    yield
    language.choose("en")
    left = clear_away()
    named = [repr(each) for each in left]
    for each in left:
        each.deleteLater()  # the next test is not to fail for this one
    clear_away()
    assert not was_told_to_exit(), "a timer or a signal ended the application after its exec()"
    assert named == [], "it lives on after its test: it needs qtbot.addWidget(), or a parent"


@pytest.fixture(scope="session")
def qapp() -> QApplication:
    """The application as the program makes it."""
    return make_application()


@pytest.fixture
def theme(qapp: QApplication) -> Iterator[Theme]:
    made = Theme(Mode.DARK)
    yield made
    made.deleteLater()


@pytest.fixture
def posted() -> list[Command]:
    """Commands the window sent."""
    return []


@pytest.fixture
def settings() -> Settings:
    """Push-to-talk, so that the talk key is what starts a turn; the first start is over."""
    talk, window = AudioSettings(hands_free=False), WindowSettings(first_start=5)
    return replace(Settings(), audio=talk, window=window)


@pytest.fixture
def rubato(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Let a script run where the window starts a command of its own."""

    def run(script: str) -> None:
        command = [sys.executable, "-c", script]
        monkeypatch.setattr(background_job, "own_command", lambda: command)

    return run


@pytest.fixture
def window(
    qtbot, qapp: QApplication, theme: Theme, posted: list[Command], settings: Settings
) -> Iterator[Window]:
    made = Window(settings, posted.append, theme)
    qtbot.addWidget(made)
    made.show()
    qtbot.waitExposed(made)
    made.activateWindow()
    qtbot.waitUntil(made.isActiveWindow)
    yield made
    made.hide()
