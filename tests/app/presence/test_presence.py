"""Beyond the window: what closing does, what is notified, starting hidden."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from app.presence.command_handler import CommandHandler
from app.presence.presence import Presence
from engine import api

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
