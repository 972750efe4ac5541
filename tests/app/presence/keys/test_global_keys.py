"""Keys by their names, and what the keys of the settings do, whatever the system's way."""

from collections.abc import Mapping

import pytest

from app.presence.command_handler import CommandHandler
from app.presence.keys.chord import Chord, parse
from app.presence.keys.global_keys import GlobalKeys
from app.presence.keys.source import Action, KeySource
from engine.api import ChangeSetting, PressTalk, ReleaseTalk, StopReply
from engine.errors import InvalidInput


class FakeKeys(KeySource):
    def __init__(self) -> None:
        super().__init__()
        self.chords: dict[Action, Chord] = {}

    def grab(self, chords: Mapping[Action, Chord]) -> None:
        self.release_all()
        self.chords = dict(chords)

    def close(self) -> None:
        self.release_all()


@pytest.fixture
def source(qapp) -> FakeKeys:
    return FakeKeys()


@pytest.fixture
def failures() -> list[str]:
    return []


@pytest.fixture
def keys(window, handler: CommandHandler, source: FakeKeys, failures) -> GlobalKeys:
    made = GlobalKeys(handler, lambda: source, window)
    made.failed.connect(lambda message, hint: failures.append(f"{message} {hint}"))
    return made


def test_the_talk_key_talks_while_it_is_held_also_while_hidden(keys, source, window, posted):
    window.hide()
    keys.choose({Action.TALK: "Ctrl+Alt+Space"})
    assert source.chords == {Action.TALK: parse("Ctrl+Alt+Space")}
    source.press(Action.TALK)
    source.press(Action.TALK)  # a repeat
    source.release(Action.TALK)
    source.release(Action.TALK)
    assert posted == [PressTalk(), ReleaseTalk()]


def test_the_other_keys_act_when_pressed(keys, source, window, posted, qtbot):
    window.stage.rate.show_rate(4.0)
    keys.choose({Action.STOP: "F8", Action.FASTER: "F9", Action.SLOWER: "F10"})
    source.press(Action.STOP)
    source.release(Action.STOP)
    source.press(Action.FASTER)
    faster, slower = (ChangeSetting("speech.rate", each) for each in (4.5, 4.0))
    qtbot.waitUntil(lambda: posted == [StopReply(), faster])
    source.press(Action.SLOWER)
    qtbot.waitUntil(lambda: posted == [StopReply(), faster, slower])


def test_a_key_that_is_taken_away_while_held_is_let_go(keys, source, posted):
    keys.choose({Action.TALK: "F9"})
    source.press(Action.TALK)
    keys.choose({Action.TALK: ""})
    assert source.chords == {}
    assert posted == [PressTalk(), ReleaseTalk()]


def test_a_key_that_cannot_be_is_said_and_the_others_work(keys, source, failures):
    keys.choose(dict.fromkeys(Action, ""))
    assert (source.chords, failures) == ({}, [])
    keys.choose({Action.TALK: "A", Action.STOP: "F8"})
    assert list(source.chords) == [Action.STOP]
    assert "'A' alone would be taken" in failures[0]
    assert "Ctrl" in failures[0]


@pytest.mark.parametrize(
    ("text", "keysym", "number", "trigger"),
    [
        ("Ctrl+Alt+Space", "space", 0x20, "CTRL+ALT+space"),
        ("Meta+T", "t", ord("T"), "LOGO+t"),
        ("F9", "F9", 0x78, "F9"),
        ("F24", "F24", 0x87, "F24"),
        ("Pause", "Pause", 0x13, "Pause"),
        ("Ctrl+Shift+PgUp", "Prior", 0x21, "CTRL+SHIFT+Prior"),
    ],
)
def test_a_key_has_a_name_in_every_system(text, keysym, number, trigger):
    chord = parse(text)
    assert (chord.keysym, chord.virtual_key) == (keysym, number)
    assert chord.trigger() == trigger


@pytest.mark.parametrize("text", ["A", "Shift+A", "Space", "Up", "Shift+Space", "7"])
def test_a_key_that_people_type_needs_a_modifier(text):
    with pytest.raises(InvalidInput, match="alone"):
        parse(text)


@pytest.mark.parametrize(
    "text", ["Hyper+A", "Ctrl+", "Ctrl+ß", "F25", "F0", "Ctrl++", "+", "x" * 99]
)
def test_what_is_no_key_is_refused(text):
    with pytest.raises(InvalidInput, match="no key"):
        parse(text)
