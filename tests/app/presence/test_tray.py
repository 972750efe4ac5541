"""The tray's icon: what it shows, what its menu does, and a tray that comes late."""

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QApplication

from app.presence.command_handler import CommandHandler
from app.presence.tray import State, Tray
from engine import api


@pytest.fixture
def tray(window, handler: CommandHandler) -> Tray:
    made = Tray(handler, hands_free=True, is_available=lambda: True, parent=window)
    made.want(True)
    return made


def choose(tray: Tray, words: str) -> None:
    (action,) = [each for each in tray.menu.actions() if each.text() == words]
    action.trigger()


def wheel(tray: Tray, angle: int) -> None:
    assert tray.icon is not None
    none = Qt.MouseButton.NoButton, Qt.KeyboardModifier.NoModifier, Qt.ScrollPhase.NoScrollPhase
    at = QPointF(1, 1)
    event = QWheelEvent(at, at, QPoint(), QPoint(0, angle), *none, False)
    QApplication.sendEvent(tray.icon, event)


def test_it_shows_what_the_assistant_does(tray):
    steps = (
        (api.PhaseChanged(1, api.Phase.LISTENING), State.LISTENING),
        (api.PhaseChanged(1, api.Phase.THINKING), State.THINKING),
        (api.PhaseChanged(1, api.Phase.SPEAKING), State.SPEAKING),
        (api.PhaseChanged(1, api.Phase.IDLE), State.WAITING),
        (api.SleepChanged(True, "hey rubato"), State.ASLEEP),
        (api.PhaseChanged(1, api.Phase.LISTENING), State.LISTENING),
        (api.PhaseChanged(1, api.Phase.IDLE), State.ASLEEP),
        (api.SettingChanged("audio.muted", True), State.MUTED),
        (api.SettingChanged("audio.muted", False), State.ASLEEP),
        (api.SleepChanged(False, "hey rubato"), State.WAITING),
        (api.SettingChanged("audio.hands_free", False), State.BY_HAND),
    )
    for event, state in steps:
        tray.on_event(event)
        assert tray.state is state
        assert tray.icon.toolTip() == f"Rubato: {state.value}"


def test_the_menu_does_what_the_window_does(tray, posted, window, qtbot):
    choose(tray, "Talk")
    tray.menu.aboutToShow.emit()
    choose(tray, "Stop talking")
    choose(tray, "Stop the reply")
    choose(tray, "Hands-free")
    assert posted == [
        api.PressTalk(),
        api.ReleaseTalk(),
        api.StopReply(),
        api.ChangeSetting("audio.hands_free", False),
    ]
    window.hide()
    choose(tray, "Show the window")
    assert window.isVisible()
    with qtbot.waitSignal(tray.quit_chosen):
        choose(tray, "Quit")
    with qtbot.waitSignal(tray.settings_chosen):
        choose(tray, "Settings…")


def test_the_wheel_changes_the_rate_also_while_hidden(tray, posted, window, qtbot):
    window.stage.rate.show_rate(4.0)
    window.hide()
    wheel(tray, 60)
    wheel(tray, 60)
    faster, slower = (api.ChangeSetting("speech.rate", each) for each in (4.5, 3.5))
    qtbot.waitUntil(lambda: posted == [faster])
    wheel(tray, -240)
    qtbot.waitUntil(lambda: posted == [faster, slower])
