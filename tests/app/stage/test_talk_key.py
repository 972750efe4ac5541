"""The talk key, wherever the focus is."""

import pytest
from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from engine.api import ChangeSetting, PressTalk, ReleaseTalk, SettingChanged, StopReply
from tests.help.fakes.engine import READY
from tests.help.window import tell

PAIR = [PressTalk(), ReleaseTalk()]


@pytest.fixture
def tap(qtbot, window):
    """Through the window system, as a person's key comes."""

    def tap(key: Qt.Key = Qt.Key.Key_Space) -> None:
        QTest.keyPress(window.windowHandle(), key)
        QTest.keyRelease(window.windowHandle(), key)
        qtbot.waitUntil(lambda: not window.talk_key._is_down)

    return tap


@pytest.mark.parametrize("marked", [True, False])
def test_holding_space_talks_from_the_start_and_its_repeats_are_swallowed(
    window, posted, qtbot, marked
):
    handle = window.windowHandle()
    QTest.keyPress(handle, Qt.Key.Key_Space)
    for kind in (QEvent.Type.KeyRelease, QEvent.Type.KeyPress) * 3:
        again = QKeyEvent(kind, Qt.Key.Key_Space, Qt.KeyboardModifier.NoModifier, " ", marked)
        assert window.talk_key.eventFilter(handle, again)  # nothing below it sees the key
    assert posted == [PressTalk()]
    QTest.keyRelease(handle, Qt.Key.Key_Space)
    qtbot.waitUntil(lambda: posted == PAIR)


@pytest.mark.parametrize("inactive", [False, True])
def test_space_types_a_space_while_typing(window, posted, tap, monkeypatch, *, inactive):
    """Also where Qt holds the window for inactive, as on a display without a window manager, where
    keys go to the window under the pointer.
    """
    window.composer.type("a")
    if inactive:
        monkeypatch.setattr(QApplication, "focusWidget", lambda: None)
    tap()
    assert posted == []
    assert window.composer.line.text() == "a "


def test_space_talks_once_while_slider_conversation_or_talk_button_have_the_focus(
    window, posted, tap
):
    for widget in (window.stage.rate.slider, window.conversation, window.composer.talk):
        widget.setFocus(Qt.FocusReason.TabFocusReason)
        posted.clear()
        tap()
        assert posted == PAIR


def test_space_presses_a_button_that_was_reached_by_tab(window, posted, tap):
    window.header.hands_free.setFocus(Qt.FocusReason.TabFocusReason)
    tap()
    assert posted == [ChangeSetting("audio.hands_free", True)]


@pytest.mark.parametrize("kind", [QEvent.Type.FocusOut, QEvent.Type.Hide])
def test_losing_the_keyboard_releases(window, posted, kind):
    handle = window.windowHandle()
    QTest.keyPress(handle, Qt.Key.Key_Space)
    window.talk_key.eventFilter(handle, QEvent(kind))
    assert posted == PAIR
    QTest.keyRelease(handle, Qt.Key.Key_Space)
    assert posted == PAIR


def test_another_key_can_be_chosen_and_talks_while_typing_where_it_types_nothing(
    window, posted, tap
):
    window.on_event(SettingChanged("window.talk_key", "F9"))
    tap()
    assert posted == []
    window.composer.type("a")
    tap(Qt.Key.Key_F9)
    assert posted == PAIR


def test_the_button_is_held_with_the_mouse_and_together_with_the_key_is_one_press(
    window, posted, qtbot
):
    tell(window, *READY)
    button = window.composer.talk
    QTest.mousePress(button, Qt.MouseButton.LeftButton)
    assert (posted, button.words) == ([PressTalk()], "Release to send")
    QTest.mouseRelease(button, Qt.MouseButton.LeftButton)
    assert (posted, button.words) == (PAIR, "Hold to talk")
    posted.clear()
    QTest.keyPress(window.windowHandle(), Qt.Key.Key_Space)
    QTest.mousePress(button, Qt.MouseButton.LeftButton)
    QTest.mouseRelease(button, Qt.MouseButton.LeftButton)
    QTest.keyRelease(window.windowHandle(), Qt.Key.Key_Space)
    qtbot.waitUntil(lambda: not window.talk_key._is_down)
    assert posted == PAIR


def test_escape_stops_the_reply_from_the_input_line_too(window, posted, tap):
    tap(Qt.Key.Key_Escape)
    window.composer.type("half a thought")
    tap(Qt.Key.Key_Escape)
    assert posted == [StopReply(by_escape=True)] * 2
    assert window.composer.line.text() == "half a thought"
    assert not window.composer.line.hasFocus()
