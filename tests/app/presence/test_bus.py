"""D-Bus on a bus of its own: services that go, notifications, stillness."""

import os
import socket
import threading
from collections.abc import Iterator

import pytest

from app.desktop_entry import APP_ID
from app.presence import bus as bus_file
from app.presence.bus import Address, Bus
from app.presence.notifications import SERVICE, SETTINGS, Buttons, Notifications, ReducedMotion
from tests.help.machine.private_bus import Message, Service, member_of, private_bus

NAME = "org.rubato.Test"
ECHO = Address("/echo", NAME, NAME)


def test_a_service_that_goes_before_it_answers_is_an_error(qtbot, bus, bus_address):
    gate = threading.Event()

    def never(message: Message) -> tuple[str, tuple[str, ...]]:
        gate.wait(10)
        return "", ()

    service = Service(bus_address, NAME, {f"{NAME}.Wait": never})
    answers: list[Message] = []
    bus.call(ECHO, "Wait", answered=answers.append)
    bus.call(ECHO, "Wait", answered=answers.append)
    gate.set()
    service.leave()
    qtbot.waitUntil(lambda: len(answers) == 2)


def test_a_bus_that_goes_is_told_once_and_calls_do_nothing(qtbot, qapp, runtime, monkeypatch):
    with private_bus(runtime) as address:
        monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", address)
        bus = Bus()
        assert bus.connect_to_session()
        lost: list[bool] = []
        bus.lost.connect(lambda: lost.append(True))
    qtbot.waitUntil(lambda: bool(lost))
    assert not bus.is_connected
    bus.call(ECHO, "Echo", "s", ("nobody",))
    assert lost == [True]


def test_without_a_bus_or_with_one_that_says_nothing_there_is_none(qapp, runtime, monkeypatch):
    monkeypatch.setattr(bus_file, "_GREETING_S", 0.1)
    nobody = f"unix:path={runtime}/silent"
    with socket.socket(socket.AF_UNIX) as silent:
        silent.bind(os.fspath(runtime / "silent"))
        silent.listen()
        for address in ("", "unix:path=/nonexistent/bus", "rubbish", "tcp:host=x", nobody):
            monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", address)
            bus = Bus()
            assert not bus.connect_to_session()
            assert bus.name == ""
            bus.close()


NUMBER = 7


@pytest.fixture
def fallen_back() -> list[tuple[str, str]]:
    return []


@pytest.fixture
def notifications(bus: Bus, fallen_back) -> Notifications:
    return Notifications(bus, lambda title, text: fallen_back.append((title, text)))


@pytest.fixture
def desktop(bus_address: str) -> Iterator[Service]:
    def notify(message: object) -> tuple[str, tuple[int]]:
        return "u", (NUMBER,)

    made = Service(bus_address, SERVICE.service, {f"{SERVICE.interface}.Notify": notify})
    yield made
    made.leave()


def test_it_is_shown_by_the_desktop_as_plain_text(qtbot, desktop, notifications):
    notifications.show("Timer", "<b>Tea</b> & cake\nare ready.")
    qtbot.waitUntil(desktop.has_calls)
    call = desktop.next_call()
    assert member_of(call) == "Notify"
    program, replaces, icon, title, text, actions, hints, _ = call.body
    assert (program, replaces, icon, title) == ("Rubato", 0, APP_ID, "Timer")
    assert text == "&lt;b&gt;Tea&lt;/b&gt; &amp; cake are ready."
    assert actions == ["default", "Show"]
    assert hints["desktop-entry"] == ("s", APP_ID)


def test_a_click_on_it_is_told_and_none_on_anothers(qtbot, desktop, notifications):
    clicks: list[bool] = []
    notifications.clicked.connect(lambda: clicks.append(True))
    notifications.show("Timer", "Tea.")
    qtbot.waitUntil(lambda: set(notifications._shown) == {NUMBER})
    invoked = SERVICE.path, SERVICE.interface, "ActionInvoked", "us"
    desktop.emit(*invoked, (NUMBER + 1, "default"))
    desktop.emit(*invoked, (NUMBER, "default"))
    desktop.emit(SERVICE.path, SERVICE.interface, "NotificationClosed", "uu", (NUMBER, 2))
    qtbot.waitUntil(lambda: notifications._shown == {})
    assert clicks == [True]


def test_one_about_a_timer_has_buttons_and_goes_with_the_timer(qtbot, desktop, notifications):
    pressed: list[str] = []
    acts = {each: lambda each=each: pressed.append(each) for each in ("Snooze", "Dismiss")}
    notifications.show("Timer", "Tea.", Buttons(3, acts))
    qtbot.waitUntil(lambda: set(notifications._shown) == {NUMBER})
    *_, actions, hints, _ = desktop.next_call().body
    assert actions == ["default", "Show", "Snooze", "Snooze", "Dismiss", "Dismiss"]
    assert hints["urgency"] == ("y", 2)
    desktop.emit(SERVICE.path, SERVICE.interface, "ActionInvoked", "us", (NUMBER, "Dismiss"))
    qtbot.waitUntil(lambda: pressed == ["Dismiss"])
    notifications.keep_timers(frozenset((3,)))
    notifications.keep_timers(frozenset())
    qtbot.waitUntil(desktop.has_calls)
    call = desktop.next_call()
    assert (member_of(call), call.body) == ("CloseNotification", (NUMBER,))


def test_where_the_desktop_has_no_service_or_no_bus_the_tray_tells(
    qtbot, notifications, fallen_back
):
    notifications.show("Timer", "Tea.")
    qtbot.waitUntil(lambda: fallen_back == [("Timer", "Tea.")])
    Notifications(Bus(), lambda *told: fallen_back.append(told)).show("Timer", "a" * 1000)
    assert fallen_back[1:] == [("Timer", "a" * 300)]


GNOME = ("org.gnome.desktop.interface", "enable-animations")
KDE = ("org.kde.kdeglobals.KDE", "AnimationDurationFactor")
PORTAL = ("org.freedesktop.appearance", "reduced-motion")
ANIMATED = {GNOME[0]: {GNOME[1]: ("b", True)}, "org.other": {"x": ("i", 3)}}


@pytest.fixture
def portal(bus_address: str) -> Iterator[Service]:
    def read_all(message: object) -> tuple[str, tuple[object, ...]]:
        return "a{sa{sv}}", (ANIMATED,)

    made = Service(bus_address, SETTINGS.service, {f"{SETTINGS.interface}.ReadAll": read_all})
    yield made
    made.leave()


def change(portal: Service, key: tuple[str, str], value: tuple[str, object]) -> None:
    portal.emit(SETTINGS.path, SETTINGS.interface, "SettingChanged", "ssv", (*key, value))


@pytest.mark.parametrize(
    ("key", "values"),
    [
        (GNOME, (("b", False), ("b", True))),
        (KDE, (("s", "0"), ("s", "1.0"))),
        (PORTAL, (("u", 1), ("u", 0))),
    ],
    ids=["gnome", "kde", "portal"],
)
def test_stillness_is_followed_and_so_is_its_end(qtbot, portal, bus, key, values):
    told: list[bool] = []
    ReducedMotion(bus, told.append)
    qtbot.waitUntil(lambda: told == [False])
    change(portal, ("org.other", "x"), ("i", 4))
    for value in values:
        change(portal, key, value)
    qtbot.waitUntil(lambda: told == [False, True, False])
