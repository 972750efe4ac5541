"""What is asked of the window from outside happens in it."""

import os

import pytest

from app.presence.command_handler import CommandHandler
from app.presence.ipc_client import Message, Order, State
from engine import api


def tell(handler: CommandHandler, *orders: Order) -> None:
    for order in orders:
        assert handler.on_message(Message(order)) == ""


@pytest.mark.parametrize(
    ("messages", "commands"),
    [
        (
            [Message(each) for each in (Order.PRESS, Order.PRESS, Order.RELEASE, Order.RELEASE)],
            [api.PressTalk(), api.ReleaseTalk()],
        ),
        ([Message(Order.STOP)], [api.StopReply()]),
        ([Message(Order.SAY, "The washing is done.")], [api.Speak("The washing is done.")]),
        ([Message(Order.GREET)], []),
    ],
)
def test_an_order_is_a_command_and_shows_no_window(handler, posted, window, messages, commands):
    window.hide()
    assert [handler.on_message(each) for each in messages] == [""] * len(messages)
    assert posted == commands
    assert not window.isVisible()


def test_toggle_presses_and_then_releases(handler, posted, window):
    tell(handler, Order.TOGGLE)
    assert window.composer.talk.is_held
    tell(handler, Order.TOGGLE)
    assert posted == [api.PressTalk(), api.ReleaseTalk()]


def test_a_hidden_or_minimised_window_is_shown(handler, window, monkeypatch, qtbot):
    monkeypatch.setenv("XDG_ACTIVATION_TOKEN", "")  # so that it is put back
    window.hide()
    assert handler.on_message(Message(Order.SHOW, token="leave")) == ""
    assert window.isVisible()
    assert os.environ["XDG_ACTIVATION_TOKEN"] == "leave"  # where Qt looks for it
    window.showMinimized()
    tell(handler, Order.SHOW)
    qtbot.waitUntil(lambda: not window.isMinimized())


def state(handler: CommandHandler) -> State:
    return State(handler.on_message(Message(Order.STATUS)))


def test_it_is_starting_until_every_part_is_ready_and_then_in_the_phase_of_its_turn(
    window, handler
):
    assert state(CommandHandler()) is State.STARTING
    assert "starting" in CommandHandler().on_message(Message(Order.STOP))
    for part in api.Part:
        assert state(handler) is State.STARTING
        window.on_event(api.Ready(part, "any"))
    assert state(handler) is State.IDLE
    for phase in api.Phase:
        window.on_event(api.PhaseChanged(1, phase))
        assert state(handler).value == phase.value
        assert state(handler).is_turn is (phase is not api.Phase.IDLE)
    window.on_event(api.PhaseChanged(1, api.Phase.IDLE))
    window.on_event(api.Loading(api.Part.RECOGNISER, "another one", None))
    assert state(handler) is State.STARTING
