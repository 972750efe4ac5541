"""Keys by their names, and what they do; by the portal's way, on a portal of our own, and by
Windows', on a user32 of our own: this has not been run on Windows itself.
"""

import ctypes
import ctypes.wintypes
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress

import pytest
from jeepney import HeaderFields
from PySide6.QtCore import QByteArray

from app.desktop_entry import APP_ID
from app.presence.bus import Bus
from app.presence.command_handler import CommandHandler
from app.presence.keys.global_keys import Action, Chord, GlobalKeys, KeySource, parse
from app.presence.keys.portal import PATH, PORTAL, REGISTRY, REQUEST, SHORTCUTS, PortalKeys
from app.presence.keys.windows import WindowsKeys
from engine.api import ChangeSetting, PressTalk, ReleaseTalk, StopReply
from engine.errors import InvalidInput
from tests.help.machine.private_bus import Message, Refused, Service, member_of


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
    window.stage.rate.slider.show_rate(4.0)
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


TYPED = ("A", "Shift+A", "Space", "Up", "Shift+Space", "7")
NO_KEYS = ("Hyper+A", "Ctrl+", "Ctrl+ß", "F25", "F0", "Ctrl++", "+", "x" * 99)


@pytest.mark.parametrize("text", [*TYPED, *NO_KEYS])
def test_a_key_that_people_type_needs_a_modifier_and_what_is_no_key_is_refused(text):
    with pytest.raises(InvalidInput, match="alone" if text in TYPED else "no key"):
        parse(text)


SESSION = f"{PATH}/session/fake/rubato"
GRANTED, CANCELLED = 0, 1


class FakePortal:
    """`answer` is what it says of BindShortcuts; `is_old` knows no global shortcuts."""

    def __init__(self, address: str, *, answer: int = GRANTED, is_old: bool = False) -> None:
        self.answer = answer
        self.registered: list[str] = []
        self.proposed: list[dict[str, str]] = []
        shortcuts = SHORTCUTS.interface
        methods: dict[str, Callable[[Message], tuple[str, tuple[object, ...]]]] = {
            f"{REGISTRY.interface}.Register": self._register,
            f"{shortcuts}.CreateSession": self._create,
            f"{shortcuts}.BindShortcuts": self._bind,
            "org.freedesktop.portal.Session.Close": lambda message: ("", ()),
        }
        self.service = Service(address, PORTAL, {} if is_old else methods)

    def activate(self, action: str, *, member: str = "Activated", session: str = SESSION) -> None:
        body = (session, action, 1, {})
        self.service.emit(PATH, SHORTCUTS.interface, member, "osta{sv}", body)

    def change(self, trigger: str) -> None:
        body = (SESSION, [("talk", {"trigger_description": ("s", trigger)})])
        self.service.emit(PATH, SHORTCUTS.interface, "ShortcutsChanged", "oa(sa{sv})", body)

    def _register(self, message: Message) -> tuple[str, tuple[object, ...]]:
        self.registered.append(message.body[0])
        return "", ()

    def _create(self, message: Message) -> tuple[str, tuple[object, ...]]:
        if not self.registered:
            raise Refused("An app id is required")  # as the portal does from 1.21 on
        return self._respond(message, message.body[0], 0, {"session_handle": ("s", SESSION)})

    def _bind(self, message: Message) -> tuple[str, tuple[object, ...]]:
        shortcuts = message.body[1]
        self.proposed.append({name: about["preferred_trigger"][1] for name, about in shortcuts})
        given = [(name, {"trigger_description": ("s", "Press F5")}) for name, _ in shortcuts]
        results = {"shortcuts": ("a(sa{sv})", given)} if self.answer == GRANTED else {}
        return self._respond(message, message.body[3], self.answer, results)

    def _respond(self, message, options, code: int, results) -> tuple[str, tuple[object, ...]]:
        sender = message.header.fields[HeaderFields.sender].removeprefix(":").replace(".", "_")
        path = f"{PATH}/request/{sender}/{options['handle_token'][1]}"
        self.service.emit(path, REQUEST, "Response", "ua{sv}", (code, results))
        return "o", (path,)


@pytest.fixture
def portals(bus_address: str) -> Iterator[Callable[..., FakePortal]]:
    """Starts a portal; those that still run end with the test."""
    made: list[FakePortal] = []

    def start(**how: object) -> FakePortal:
        made.append(FakePortal(bus_address, **how))
        return made[-1]

    yield start
    for portal in made:
        with suppress(OSError):
            portal.service.leave()


@pytest.fixture
def portal_keys(bus: Bus) -> PortalKeys:
    return PortalKeys(bus)


WANTED = {Action.TALK: parse("Ctrl+Alt+Space"), Action.STOP: parse("F8")}


@pytest.fixture
def portal(portals) -> FakePortal:
    return portals()


@pytest.fixture
def told(qtbot, portal, portal_keys, hear):
    told = hear(portal_keys)
    portal_keys.grab(WANTED)
    qtbot.waitUntil(lambda: len(told.bound) == 1)
    return told


def test_all_keys_are_bound_at_once_after_saying_who_asks(portal, told):
    assert portal.registered == [APP_ID]
    assert portal.proposed == [{"talk": "CTRL+ALT+space", "stop": "F8"}]
    assert told.bound == [
        "The desktop's keys: Press F5 (Talk to Rubato while held), Press F5 (Stop Rubato's reply)"
    ]
    calls = [member_of(portal.service.next_call()) for _ in range(3)]
    assert calls == ["Register", "CreateSession", "BindShortcuts"]


def test_a_key_is_heard_while_it_is_held(qtbot, portal, told):
    portal.activate("talk", session=f"{SESSION}/of/another")
    portal.activate("dance")
    portal.activate("talk")
    portal.activate("talk", member="Deactivated")
    qtbot.waitUntil(lambda: told.keys == ["talk down", "talk up"])


def test_a_refusal_is_said_once_and_not_asked_again(qtbot, portals, portal_keys, hear):
    portal = portals(answer=CANCELLED)
    told = hear(portal_keys)
    portal_keys.grab(WANTED)
    qtbot.waitUntil(lambda: bool(told.lost))
    assert "gave Rubato no global key" in told.lost[0]
    assert len(portal.proposed) == len(told.lost) == 1
    portal.activate("talk")
    portal.change("F6")
    qtbot.wait(1)
    assert told.keys == told.bound == []


def test_a_key_changed_in_the_desktop_is_told_and_what_is_held_let_go(qtbot, portal, told):
    portal.activate("talk")
    portal.change("Ctrl+F6")
    qtbot.waitUntil(lambda: len(told.bound) == 2)
    assert told.bound[1] == "The desktop's keys: Ctrl+F6 (Talk to Rubato while held)"
    assert told.keys == ["talk down", "talk up"]


def test_no_line_is_shown_where_the_desktop_names_no_key(qtbot, portal, told):
    portal.change("")
    portal.change("F6")
    qtbot.waitUntil(lambda: len(told.bound) == 2)
    assert told.bound[1] == "The desktop's keys: F6 (Talk to Rubato while held)"


def test_a_portal_that_restarts_is_asked_anew(qtbot, portals, portal, told):
    portal.activate("talk")
    qtbot.waitUntil(lambda: told.keys == ["talk down"])
    portal.service.leave()
    qtbot.waitUntil(lambda: told.keys == ["talk down", "talk up"])
    second = portals()
    qtbot.waitUntil(lambda: len(told.bound) == 2)
    assert second.registered == [APP_ID]
    second.activate("stop")
    qtbot.waitUntil(lambda: told.keys[2:] == ["stop down"])


def test_a_portal_without_global_keys_is_said_with_the_way_round(qtbot, portals, portal_keys, hear):
    portals(is_old=True)
    without_a_bus = PortalKeys(Bus())
    for each in (portal_keys, without_a_bus):
        told = hear(each)
        each.grab(WANTED)
        qtbot.waitUntil(lambda told=told: bool(told.lost))
        assert "rubato talk toggle" in told.lost[0]


def test_other_keys_are_another_session(qtbot, portal, portal_keys, told):
    portal_keys.grab({Action.STOP: parse("F7")})
    qtbot.waitUntil(lambda: len(told.bound) == 2)
    assert portal.proposed[1] == {"stop": "F7"}
    calls = [member_of(portal.service.next_call()) for _ in range(6)]
    assert calls[3:] == ["Close", "Register", "CreateSession"]


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
def hot_keys(qapp, user32: FakeUser32) -> Iterator[WindowsKeys]:
    made = WindowsKeys(user32=user32)
    yield made
    made.close()


def deliver(keys: WindowsKeys, number: int, message: int = 0x0312) -> None:
    """As Qt hands a message of the queue to its filters."""
    given = ctypes.wintypes.MSG()
    given.message, given.wParam = message, number
    kind = QByteArray(b"windows_generic_MSG")
    assert keys._filter.nativeEventFilter(kind, ctypes.addressof(given)) == (False, 0)


def test_a_hot_key_is_down_until_the_keyboard_lets_go(qtbot, hot_keys, user32, hear):
    told = hear(hot_keys)
    hot_keys.grab({Action.TALK: parse("Ctrl+Alt+Space")})
    ((number, registered),) = user32.registered.items()
    assert registered == (0x1 | 0x2 | 0x4000, 0x20)
    user32.held = {0x20}
    deliver(hot_keys, number)
    deliver(hot_keys, number)
    assert told.keys == ["talk down"]
    user32.held = set()
    qtbot.waitUntil(lambda: told.keys == ["talk down", "talk up"])
    assert not hot_keys._held.isActive()  # nothing is looked at while no key is held


def test_a_key_another_program_has_is_said_and_all_are_given_back(hot_keys, user32, hear):
    told = hear(hot_keys)
    user32.taken = {parse("F9").virtual_key}
    hot_keys.grab({Action.TALK: parse("F9"), Action.STOP: parse("F8")})
    assert "“Talk to Rubato while held”" in told.lost[0]
    assert len(user32.registered) == 1
    user32.taken.clear()
    hot_keys.grab({Action.TALK: parse("F9")})
    hot_keys.grab({Action.TALK: parse("F8")})
    assert [key for _, key in user32.registered.values()] == [parse("F8").virtual_key]
    hot_keys.close()
    assert user32.registered == {}
