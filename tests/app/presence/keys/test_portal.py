"""The portal's way, on a portal of our own: it binds, refuses, changes keys, restarts, is old."""

from collections.abc import Callable, Iterator
from contextlib import suppress

import pytest
from jeepney import HeaderFields

from app.presence.bus import Bus
from app.presence.desktop_entry import APP_ID
from app.presence.keys.chord import parse
from app.presence.keys.portal import PATH, PORTAL, REGISTRY, REQUEST, SHORTCUTS, PortalKeys
from app.presence.keys.source import Action
from tests.private_bus import Message, Refused, Service, member_of

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
def keys(bus: Bus) -> PortalKeys:
    return PortalKeys(bus)


WANTED = {Action.TALK: parse("Ctrl+Alt+Space"), Action.STOP: parse("F8")}


@pytest.fixture
def portal(portals) -> FakePortal:
    return portals()


@pytest.fixture
def told(qtbot, portal, keys, hear):
    told = hear(keys)
    keys.grab(WANTED)
    qtbot.waitUntil(lambda: len(told.bound) == 1)
    return told


def test_all_keys_are_bound_at_once_after_saying_who_asks(portal, told):
    assert portal.registered == [APP_ID]
    assert portal.proposed == [{"talk": "CTRL+ALT+space", "stop": "F8"}]
    assert told.bound == ["The desktop's keys: talk: Press F5, stop: Press F5"]
    calls = [member_of(portal.service.next_call()) for _ in range(3)]
    assert calls == ["Register", "CreateSession", "BindShortcuts"]


def test_a_key_is_heard_while_it_is_held(qtbot, portal, told):
    portal.activate("talk", session=f"{SESSION}/of/another")
    portal.activate("dance")
    portal.activate("talk")
    portal.activate("talk", member="Deactivated")
    qtbot.waitUntil(lambda: told.keys == ["talk down", "talk up"])


def test_a_refusal_is_said_once_and_not_asked_again(qtbot, portals, keys, hear):
    portal = portals(answer=CANCELLED)
    told = hear(keys)
    keys.grab(WANTED)
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
    assert told.bound[1] == "The desktop's keys: talk: Ctrl+F6"
    assert told.keys == ["talk down", "talk up"]


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


def test_a_portal_without_global_keys_is_said_with_the_way_round(qtbot, portals, keys, hear):
    portals(is_old=True)
    without_a_bus = PortalKeys(Bus())
    for each in (keys, without_a_bus):
        told = hear(each)
        each.grab(WANTED)
        qtbot.waitUntil(lambda told=told: bool(told.lost))
        assert "rubato talk toggle" in told.lost[0]


def test_other_keys_are_another_session(qtbot, portal, keys, told):
    keys.grab({Action.STOP: parse("F7")})
    qtbot.waitUntil(lambda: len(told.bound) == 2)
    assert portal.proposed[1] == {"stop": "F7"}
    calls = [member_of(portal.service.next_call()) for _ in range(6)]
    assert calls[3:] == ["Close", "Register", "CreateSession"]
