"""Beyond the window: what closing does, what is notified, starting hidden."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from app.presence.command_handler import CommandHandler
from app.presence.presence import Presence
from engine import api

LOST = api.Failed("device", "The microphone is gone.", "", None, api.Part.MICROPHONE)


class Told:
    """Notifications, kept."""

    def __init__(self) -> None:
        self.notes: list[tuple[str, str]] = []

    def __call__(self, title: str, text: str) -> None:
        self.notes.append((title, text))


@pytest.fixture
def told() -> Told:
    return Told()


@pytest.fixture
def presence(window, settings, told: Told, monkeypatch) -> Iterator[Presence]:
    """Without a bus, and with a tray."""
    monkeypatch.delenv("DBUS_SESSION_BUS_ADDRESS", raising=False)
    handler = CommandHandler()
    handler.serve(window)
    made = Presence(window, handler, settings, tray=True)
    made.tray._is_available = lambda: True
    monkeypatch.setattr(made, "_show_balloon", told)
    made.begin()
    yield made
    made.end()


def test_closing_only_hides_while_a_tray_is_there(presence, window, told, qtbot):
    ended: list[bool] = []
    window.closing.connect(lambda: ended.append(True))
    window.close()
    assert not window.isVisible()
    assert ended == []
    assert "keeps running in the tray" in told.notes[0][1]
    window.show()
    window.close()
    assert len(told.notes) == 1  # said once
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
    assert told.notes == []  # it is in front of the person
    window.hide()
    presence.on_event(event)
    presence.on_event(api.SettingChanged("presence.notifications", False))
    presence.on_event(event)
    assert told.notes == ([note] if note else [])


def test_a_fetched_model_is_notified_while_the_window_is_away(presence, window, told):
    settled = api.ModelSettled("whisper-base", "It is there and in use.")
    presence.on_event(api.ModelProgress("whisper-base", api.Activity.FETCHING, 1, 2))
    presence.on_event(settled)
    assert told.notes == []  # it is in front of the person
    window.hide()
    presence.on_event(api.ModelProgress("whisper-base", api.Activity.VERIFYING, 1, 2))
    presence.on_event(settled)
    assert told.notes == []
    presence.on_event(api.ModelProgress("whisper-base", api.Activity.FETCHING, 1, 2))
    presence.on_event(settled)
    presence.on_event(settled)
    assert told.notes == [("Fetching whisper-base", "It is there and in use.")]
