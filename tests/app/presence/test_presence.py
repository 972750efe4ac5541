"""Beyond the window: orders from outside, closing, notifications, the icon in the tray."""

import os
from collections.abc import Iterator
from dataclasses import replace

import pytest

from app.presence.command_handler import CommandHandler
from app.presence.ipc_client import STATES, Message, Order
from app.presence.presence import Presence
from app.presence.tray import Tray
from app.status.parts import Mood
from engine import api
from tests.help.fakes.engine import READY

ALARM = api.TimerRang("It's 7:00 AM. This is your alarm.", 3, api.TimerKind.ALARM)
LOST = api.Failed("device", "The microphone is gone.", "", None, api.Part.MICROPHONE)


@pytest.fixture
def told() -> list[tuple[str, str]]:
    """Notifications: title and text."""
    return []


@pytest.fixture
def presence(
    window, settings, handler: CommandHandler, told: list[tuple[str, str]], monkeypatch
) -> Iterator[Presence]:
    """Without a bus, and with a tray."""
    monkeypatch.delenv("DBUS_SESSION_BUS_ADDRESS", raising=False)
    made = Presence(window, handler, settings, tray=True)
    made.tray._is_available = lambda: True
    monkeypatch.setattr(made, "_show_balloon", lambda *note: told.append(note))
    made.begin()
    yield made
    made.end()


def test_the_first_steps_show_which_keys_the_desktop_gave(presence, window, qtbot):
    with qtbot.waitSignal(window.first_start.keys_given) as given:
        presence.keys.bound.emit("The desktop's keys: F6")
    assert given.args == ["The desktop's keys: F6"]


def test_closing_only_hides_while_a_tray_is_there(presence, window, told, qtbot):
    ended: list[bool] = []
    window.closing.connect(lambda: ended.append(True))
    window.close()
    assert not window.isVisible()
    assert ended == []
    assert "keeps running in the tray" in told[0][1]
    window.show()
    window.close()
    assert len(told) == 1  # said once
    window.show()
    presence.tray._is_available = lambda: False
    window.close()
    assert ended == [True]


@pytest.mark.parametrize("by", ["quitting", "closing without a wish for the tray"])
def test_it_ends(presence, window, qtbot, by):
    if by != "quitting":
        presence.on_event(api.SettingChanged("presence.tray", False))
    with qtbot.waitSignal(window.closing):
        window.quit() if by == "quitting" else window.close()
    assert not window.isVisible()


@pytest.mark.parametrize(
    ("event", "note"),
    [
        (api.TimerRang("Your tea is ready."), ("Timer", "Your tea is ready.")),
        (ALARM, ("Alarm", "It's 7:00 AM. This is your alarm.")),
        (LOST, ("The microphone does not work", "The microphone is gone.")),
        (replace(LOST, part=api.Part.SYNTHESISER), None),
        (api.Notice("A new conversation."), None),
    ],
)
def test_some_things_are_notified_while_the_window_is_away(presence, window, told, event, note):
    presence.on_event(event)
    assert told == []  # it is in front of the person
    window.hide()
    presence.on_event(event)
    presence.on_event(api.SettingChanged("presence.notifications", False))
    presence.on_event(event)
    assert told == ([note] if note else [])


def test_a_fetched_model_is_notified_once_while_the_window_is_away(presence, window, told):
    def does(activity: api.Activity) -> None:
        presence.on_event(api.ModelProgress("whisper-base", activity, 1, 2))
        presence.on_event(api.ModelSettled("whisper-base", "It is there and in use."))

    does(api.Activity.FETCHING)
    window.hide()
    does(api.Activity.VERIFYING)
    assert told == []
    does(api.Activity.FETCHING)
    presence.on_event(api.ModelSettled("whisper-base", "It is there and in use."))
    assert told == [("Fetching whisper-base", "It is there and in use.")]


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
        ([Message(Order.PING)], []),
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


def state(handler: CommandHandler) -> str:
    found = handler.on_message(Message(Order.STATUS))
    assert found in STATES
    return found


def test_it_is_starting_until_every_part_is_ready_and_then_in_the_phase_of_its_turn(
    window, handler
):
    assert state(CommandHandler()) == "starting"
    assert "starting" in CommandHandler().on_message(Message(Order.STOP))
    window.on_event(api.PhaseChanged(1, api.Phase.LISTENING))
    assert state(handler) == "starting"  # no microphone is open yet
    window.on_event(api.PhaseChanged(1, api.Phase.IDLE))
    for part in api.Part:
        assert state(handler) == "starting"
        window.on_event(api.Ready(part, "any"))
    assert state(handler) == "idle"
    for phase in api.Phase:
        window.on_event(api.PhaseChanged(1, phase))
        assert state(handler) == phase.value
    window.on_event(api.PhaseChanged(1, api.Phase.IDLE))
    window.on_event(api.Loading(api.Part.RECOGNISER, "another one", None))
    assert state(handler) == "starting"
    window.on_event(api.PhaseChanged(1, api.Phase.SPEAKING))
    assert state(handler) == "speaking"


@pytest.fixture
def tray(window, handler: CommandHandler) -> Tray:
    window.on_event(api.SettingChanged("audio.hands_free", True))
    made = Tray(handler, window.parts, is_available=lambda: True, parent=window)
    made.want(True)
    return made


def choose(tray: Tray, words: str) -> None:
    (action,) = [each for each in tray.menu.actions() if each.text() == words]
    action.trigger()


def test_it_shows_what_the_assistant_does(tray, window):
    steps = (
        (api.PhaseChanged(1, api.Phase.LISTENING), Mood.LISTENING),
        (api.PhaseChanged(1, api.Phase.THINKING), Mood.THINKING),
        (api.PhaseChanged(1, api.Phase.SPEAKING), Mood.SPEAKING),
        (api.PhaseChanged(1, api.Phase.IDLE), Mood.READY),
        (api.SleepChanged(True, "hey rubato"), Mood.ASLEEP),
        (api.PhaseChanged(1, api.Phase.LISTENING), Mood.LISTENING),
        (api.PhaseChanged(1, api.Phase.IDLE), Mood.ASLEEP),
        (api.SettingChanged("audio.muted", True), Mood.MUTED),
        (api.SettingChanged("audio.muted", False), Mood.ASLEEP),
        (api.SleepChanged(False, "hey rubato"), Mood.READY),
    )
    for event in READY:
        window.on_event(event)
    for event, state in steps:
        window.on_event(event)
        tray.on_event(event)
        assert tray.mood is state
        assert tray.icon.toolTip() == f"Rubato: {state.value}"


def test_the_menu_does_what_the_window_does(tray, posted, window, qtbot):
    choose(tray, "Talk")
    tray.menu.aboutToShow.emit()
    choose(tray, "Done talking")
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
