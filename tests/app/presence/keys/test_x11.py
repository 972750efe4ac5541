"""XGrabKey on a display of its own, with keys pressed by XTest.

Invariant: nothing here has the focus: there is no window at all.
"""

from collections.abc import Iterator
from dataclasses import replace

import pytest
from Xlib import XK, X, display

from app.presence import presence
from app.presence.keys.global_keys import Action, parse
from app.presence.keys.x11 import X11Keys
from engine.api import ReleaseTalk, SettingChanged, Settings
from tests.help.machine.needed import need
from tests.help.machine.virtual_desktop import VirtualDesktop, missing_programs, virtual_desktop

pytestmark = pytest.mark.device


@pytest.fixture(scope="module")
def desktop() -> Iterator[VirtualDesktop]:
    need(missing_programs())
    with virtual_desktop() as made:
        yield made


@pytest.fixture
def keys(qapp, desktop: VirtualDesktop) -> Iterator[X11Keys]:
    made = X11Keys(name=desktop.name)
    yield made
    made.close()


@pytest.mark.parametrize("up", [("space", "alt", "ctrl"), ("ctrl", "alt", "space")])
def test_a_key_is_heard_while_it_is_held_and_modifiers_may_go_first(qtbot, desktop, keys, hear, up):
    told = hear(keys)
    keys.grab({Action.TALK: parse("Ctrl+Alt+Space")})
    desktop.xdotool("keydown", "ctrl", "keydown", "alt", "keydown", "space")
    qtbot.waitUntil(lambda: told.keys == ["talk down"])
    desktop.xdotool(*(word for each in up for word in ("keyup", each)))
    qtbot.waitUntil(lambda: told.keys == ["talk down", "talk up"])


def test_a_key_that_repeats_is_down_once(qtbot, desktop, keys, hear):
    told = hear(keys)
    seen: list[int] = []
    handle = keys._on_event

    def count(event) -> None:
        seen.append(event.type)
        handle(event)

    keys._on_event = count
    keys.grab({Action.TALK: parse("F9")})
    desktop.xdotool("keydown", "F9")
    qtbot.waitUntil(lambda: seen.count(X.KeyPress) > 3, timeout=10_000)  # the server repeats it
    assert told.keys == ["talk down"]
    desktop.xdotool("keyup", "F9")
    qtbot.waitUntil(lambda: told.keys == ["talk down", "talk up"])


def test_a_key_whose_repeats_are_read_late_is_down_once(qtbot, desktop, keys, hear):
    told = hear(keys)
    keys.grab({Action.TALK: parse("F9")})
    desktop.xdotool("keydown", "F9", "sleep", "1", "keyup", "F9")  # nothing is read meanwhile
    qtbot.waitUntil(lambda: "talk up" in told.keys)
    desktop.xdotool("key", "F9")
    qtbot.waitUntil(lambda: len(told.keys) >= 4)
    assert told.keys == 2 * ["talk down", "talk up"]


def test_locks_make_no_difference(qtbot, desktop, keys, hear):
    told = hear(keys)
    keys.grab({Action.STOP: parse("Ctrl+F8")})
    for lock in ("Caps_Lock", "Num_Lock"):
        desktop.xdotool("key", lock, "key", "ctrl+F8", "key", lock)
        qtbot.waitUntil(lambda: told.keys == ["stop down", "stop up"])
        told.keys.clear()


def test_a_key_that_another_program_has_is_refused_and_the_others_work(qtbot, desktop, keys, hear):
    told = hear(keys)
    other = display.Display(desktop.name)
    code = other.keysym_to_keycode(XK.string_to_keysym("F9"))
    other.screen().root.grab_key(code, X.AnyModifier, False, X.GrabModeAsync, X.GrabModeAsync)
    other.sync()
    keys.grab({Action.TALK: parse("F9"), Action.STOP: parse("F8")})
    assert len(told.lost) == 1
    assert "“Talk to Rubato while held”" in told.lost[0]
    desktop.xdotool("key", "F8")
    qtbot.waitUntil(lambda: told.keys == ["stop down", "stop up"])
    other.close()
    keys.grab({Action.TALK: parse("F9")})
    desktop.xdotool("key", "F9")
    qtbot.waitUntil(lambda: told.keys[2:] == ["talk down", "talk up"])


def test_a_key_that_the_keyboard_lacks_is_refused_and_grabs_no_other(qtbot, desktop, keys, hear):
    told = hear(keys)
    lacking = replace(parse("Ctrl+F9"), keysym="F35")
    keys.grab({Action.STOP: parse("Ctrl+F8"), Action.TALK: lacking})
    assert "“Talk to Rubato while held”" in told.lost[0]
    desktop.xdotool("key", "ctrl+F8")
    qtbot.waitUntil(lambda: told.keys == ["stop down", "stop up"])


def test_a_display_that_goes_lets_the_key_go(qtbot, qapp, hear):
    with virtual_desktop() as desktop:
        keys = X11Keys(name=desktop.name)
        told = hear(keys)
        keys.grab({Action.TALK: parse("F9")})
        desktop.xdotool("keydown", "F9")
        qtbot.waitUntil(lambda: told.keys == ["talk down"])
    qtbot.waitUntil(lambda: bool(told.lost))
    assert told.keys == ["talk down", "talk up"]
    keys.close()


def test_the_first_steps_register_a_key_and_show_that_it_works(
    qtbot, monkeypatch, desktop, handler, window, posted
):
    """As a new user does it: one click, then the key in another program."""
    monkeypatch.delenv("DBUS_SESSION_BUS_ADDRESS", raising=False)
    monkeypatch.setattr(presence, "source_here", lambda bus: X11Keys(name=desktop.name))
    made = presence.Presence(window, handler, Settings(), tray=False)
    made.begin()
    window.on_event(SettingChanged("window.first_start", 2))
    posted.clear()
    talk = window.first_start.steps[2]
    talk.everywhere.click()
    (change,) = posted
    made.on_event(SettingChanged(change.key, change.value))  # the engine's answer
    desktop.xdotool("key", "ctrl+alt+space")
    qtbot.waitUntil(lambda: talk.verdict.text() == "That key works everywhere.")
    qtbot.waitUntil(lambda: posted == [change, ReleaseTalk()])
    made.end()
