"""The D-Bus client on a bus of its own: answers, errors, signals, and services that go."""

import os
import socket
import threading

import pytest

from app.presence.bus import Address, Bus
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
