"""What is asked of the window from outside happens in it."""

import os

import pytest

from app.presence.desk import Desk
from app.presence.remote import Message, Order
from engine.api import PressTalk, ReleaseTalk, SetRate, Speak, StopReply


@pytest.fixture
def desk(window) -> Desk:
    made = Desk()
    made.serve(window)
    return made


def tell(desk: Desk, *orders: Order) -> None:
    for order in orders:
        assert desk.on_message(Message(order)) == ""


def test_talk_is_pressed_and_released_once_each(desk, posted) -> None:
    tell(desk, Order.PRESS, Order.PRESS, Order.RELEASE, Order.RELEASE)
    assert posted == [PressTalk(), ReleaseTalk()]


def test_toggle_presses_and_then_releases(desk, posted, window) -> None:
    tell(desk, Order.TOGGLE)
    assert window.composer.talk.is_held
    tell(desk, Order.TOGGLE)
    assert posted == [PressTalk(), ReleaseTalk()]


def test_the_reply_is_stopped(desk, posted) -> None:
    tell(desk, Order.STOP)
    assert posted == [StopReply()]


def test_a_text_is_said(desk, posted) -> None:
    assert desk.on_message(Message(Order.SAY, "The washing is done.")) == ""
    assert posted == [Speak("The washing is done.")]


def test_the_rate_is_stepped_while_the_window_is_hidden(desk, posted, window, qtbot) -> None:
    window.stage.rate.show_rate(4.0)
    window.hide()
    tell(desk, Order.FASTER)
    qtbot.waitUntil(lambda: posted == [SetRate(4.5)])
    tell(desk, Order.SLOWER, Order.SLOWER)
    qtbot.waitUntil(lambda: posted == [SetRate(4.5), SetRate(3.5)])
    assert not window.isVisible()


def test_a_hidden_window_is_shown(desk, window, monkeypatch) -> None:
    monkeypatch.setenv("XDG_ACTIVATION_TOKEN", "")  # so that it is put back
    window.hide()
    assert desk.on_message(Message(Order.SHOW, token="leave")) == ""
    assert window.isVisible()
    assert os.environ["XDG_ACTIVATION_TOKEN"] == "leave"  # where Qt looks for it


def test_a_minimised_window_is_shown(desk, window, qtbot) -> None:
    window.showMinimized()
    tell(desk, Order.SHOW)
    qtbot.waitUntil(lambda: not window.isMinimized())


def test_before_the_window_is_there_it_says_so() -> None:
    assert "starting" in Desk().on_message(Message(Order.STOP))


def test_greeting_does_nothing(desk, posted, window) -> None:
    window.hide()
    tell(desk, Order.GREET)
    assert posted == []
    assert not window.isVisible()
