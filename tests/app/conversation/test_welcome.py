"""What an empty conversation asks for: only for what works now."""

import pytest

from app.window import Window
from engine.api import Failed, Part, Ready, SettingChanged, SleepChanged
from tests.fakes_engine import READY

SPEAK = "Just speak, hold Space to talk, or type."
MUTED = SettingChanged("audio.muted", True)
ASLEEP = SleepChanged(True, "hey rubato")
DEAF = Failed("device", "No microphone was found.", "", part=Part.MICROPHONE)


@pytest.fixture
def ready(window: Window) -> Window:
    for event in (*READY, SettingChanged("audio.hands_free", True)):
        window.on_event(event)
    return window


@pytest.mark.parametrize(
    ("event", "button"), [(MUTED, "Muted"), (ASLEEP, None), (DEAF, "Cannot hear")]
)
def test_nobody_is_asked_to_speak_who_would_not_be_heard(ready, event, button):
    assert (ready.welcome.how.text(), ready.composer.talk.words) == (SPEAK, "Just speak")
    ready.on_event(event)
    assert "Just speak" not in ready.welcome.how.text()
    assert "type" in ready.welcome.how.text().lower()
    assert button in (None, ready.composer.talk.words)


def test_asleep_it_says_what_wakes_it_and_it_asks_again_once_it_hears_again(ready):
    ready.on_event(ASLEEP)
    assert ready.welcome.how.text().startswith("Say “hey rubato”")
    ready.on_event(SleepChanged(False, "hey rubato"))
    assert ready.welcome.how.text() == SPEAK
    for event in (MUTED, DEAF, SettingChanged("audio.muted", False)):
        ready.on_event(event)
    assert ready.welcome.how.text() != SPEAK
    ready.on_event(Ready(Part.MICROPHONE, "default"))
    assert ready.welcome.how.text() == SPEAK


def test_nobody_is_asked_to_speak_while_the_orb_says_getting_ready(window):
    window.on_event(SettingChanged("audio.hands_free", True))
    for event in READY:
        is_ready = window.stage.phase.text() != "Getting ready"
        assert (window.welcome.how.text() == SPEAK) is is_ready
        assert (window.welcome.title.text() == "Say something") is is_ready
        assert window.composer.talk.words == ("Just speak" if is_ready else "Getting ready")
        window.on_event(event)
    assert window.stage.phase.text() == "Ready"
    assert window.composer.talk.words == "Just speak"
