"""The D-Bus client on a bus of its own: answers, errors, signals, and services that go."""

import os
import socket
import threading

import pytest

from app.presence.bus import Address, Bus, error_of, is_error, path_of
from tests.private_bus import Message, Refused, Service, private_bus

NAME = "org.rubato.Test"
ECHO = Address("/echo", NAME, NAME)


def refuse(message: Message) -> tuple[str, tuple[str, ...]]:
    raise Refused("Not today.")


@pytest.fixture
def service(bus_address: str):
    made = Service(
        bus_address,
        NAME,
        {f"{NAME}.Echo": lambda message: ("s", message.body), f"{NAME}.Refuse": refuse},
    )
    yield made
    made.leave()


def test_an_error_is_an_answer_too(qtbot, bus, service):
    answers: list[Message] = []
    bus.call(ECHO, "Refuse", answered=answers.append)
    bus.call(ECHO, "Nonsense", answered=answers.append)
    bus.call(Address("/", "org.rubato.Nobody", NAME), "Echo", answered=answers.append)
    qtbot.waitUntil(lambda: len(answers) == 3)
    assert all(is_error(each) for each in answers)
    assert "Not today." in map(error_of, answers)


def test_a_signal_that_is_watched_is_told_and_no_other(qtbot, bus, service):
    told: list[Message] = []
    bus.watch(NAME, NAME, "Rang", told.append)
    answers: list[Message] = []
    bus.call(ECHO, "Echo", "s", ("after the watch",), answers.append)
    qtbot.waitUntil(lambda: bool(answers))
    service.emit("/bell", NAME, "Other", "s", ("no",))
    service.emit("/bell", NAME, "Rang", "s", ("yes",))
    qtbot.waitUntil(lambda: bool(told))
    assert [(path_of(each), each.body) for each in told] == [("/bell", ("yes",))]


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


@pytest.mark.parametrize("address", ["", "unix:path=/nonexistent/bus", "rubbish", "tcp:host=x"])
def test_without_a_bus_there_is_none(qapp, monkeypatch, address):
    monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", address)
    bus = Bus()
    assert not bus.connect_to_session()
    assert bus.name == ""
    bus.close()


def test_a_bus_that_says_nothing_does_not_hold_up_the_window(qapp, runtime, monkeypatch):
    with socket.socket(socket.AF_UNIX) as silent:
        silent.bind(os.fspath(runtime / "silent"))
        silent.listen()
        monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", f"unix:path={runtime}/silent")
        assert not Bus().connect_to_session()
