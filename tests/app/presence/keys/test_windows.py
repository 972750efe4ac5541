"""Windows' way on a user32 of our own: this has not been run on Windows itself."""

import ctypes
import ctypes.wintypes
from collections.abc import Iterator

import pytest
from PySide6.QtCore import QByteArray

from app.presence.keys.chord import parse
from app.presence.keys.source import Action
from app.presence.keys.windows import WindowsKeys


class FakeUser32:
    def __init__(self) -> None:
        self.registered: dict[int, tuple[int, int]] = {}
        self.held: set[int] = set()
        self.taken: set[int] = set()  # keys that other programs have

    def RegisterHotKey(self, window: None, number: int, modifiers: int, key: int) -> int:  # noqa: N802 - Windows' name
        if key in self.taken:
            return 0
        self.registered[number] = modifiers, key
        return 1

    def UnregisterHotKey(self, window: None, number: int) -> int:  # noqa: N802 - Windows' name
        del self.registered[number]
        return 1

    def GetAsyncKeyState(self, key: int) -> int:  # noqa: N802 - Windows' name
        return -32768 if key in self.held else 0  # the highest of 16 bits, and they are signed


@pytest.fixture
def user32() -> FakeUser32:
    return FakeUser32()


@pytest.fixture
def keys(qapp, user32: FakeUser32) -> Iterator[WindowsKeys]:
    made = WindowsKeys(user32=user32)
    yield made
    made.close()


def deliver(keys: WindowsKeys, number: int, message: int = 0x0312) -> None:
    """As Qt hands a message of the queue to its filters."""
    given = ctypes.wintypes.MSG()
    given.message, given.wParam = message, number
    kind = QByteArray(b"windows_generic_MSG")
    assert keys._filter.nativeEventFilter(kind, ctypes.addressof(given)) == (False, 0)


def test_a_hot_key_is_down_until_the_keyboard_lets_go(qtbot, keys, user32, hear):
    told = hear(keys)
    keys.grab({Action.TALK: parse("Ctrl+Alt+Space")})
    ((number, registered),) = user32.registered.items()
    assert registered == (0x1 | 0x2 | 0x4000, 0x20)
    user32.held = {0x20}
    deliver(keys, number)
    deliver(keys, number)
    assert told.keys == ["talk down"]
    user32.held = set()
    qtbot.waitUntil(lambda: told.keys == ["talk down", "talk up"])
    assert not keys._held.isActive()  # nothing is looked at while no key is held


def test_a_key_another_program_has_is_said_and_all_are_given_back(keys, user32, hear):
    told = hear(keys)
    user32.taken = {parse("F9").virtual_key}
    keys.grab({Action.TALK: parse("F9"), Action.STOP: parse("F8")})
    assert "'talk'" in told.lost[0]
    assert len(user32.registered) == 1
    user32.taken.clear()
    keys.grab({Action.TALK: parse("F9")})
    keys.grab({Action.TALK: parse("F8")})
    assert [key for _, key in user32.registered.values()] == [parse("F8").virtual_key]
    keys.close()
    assert user32.registered == {}
