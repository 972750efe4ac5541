"""Keys by their names: what X11, the portal and Windows call them, and what is refused."""

import pytest

from app.presence.keys.chord import parse
from engine.errors import InvalidInput


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
