"""The media keys: a player on the desktop's bus while a document is open."""

import pytest
from jeepney import DBusAddress, MessageType, new_method_call
from jeepney.io.blocking import open_dbus_connection
from PySide6.QtCore import QObject

from app.presence.bus import THE_BUS, Bus
from app.presence.command_handler import CommandHandler
from app.presence.media_keys import PLAYER, MediaKeys
from engine import api

OPENED = api.DocumentOpened("key", "A\nBook", "Ada", "en", ("One",), api.Place())
PROPERTIES = "org.freedesktop.DBus.Properties"
INTERFACE = "org.mpris.MediaPlayer2.Player"


@pytest.fixture
def player(window, bus: Bus, handler: CommandHandler) -> MediaKeys:
    return MediaKeys(bus, handler, QObject(window))


@pytest.fixture
def call(qtbot, bus_address: str, bus: Bus):
    """Call a method as the desktop does; the answer's body, None for an error."""
    desktop = open_dbus_connection(bus_address)

    def called(interface: str, member: str, signature: str = "", body: tuple = ()):
        address = DBusAddress(PLAYER.path, PLAYER.service, interface)
        message = new_method_call(address, member, signature or None, body)
        serial = next(desktop.outgoing_serial)
        desktop.send(message, serial=serial)
        answers = []

        def is_answered() -> bool:
            try:
                answers.append(desktop.receive(timeout=0.01))
            except TimeoutError:
                return False
            kinds = (MessageType.method_return, MessageType.error)
            return answers[-1].header.message_type in kinds

        qtbot.waitUntil(is_answered)
        is_error = answers[-1].header.message_type is MessageType.error
        return None if is_error else answers[-1].body

    yield called
    desktop.close()


@pytest.fixture
def owners(bus: Bus, qtbot) -> list[str]:
    """The owners of the player's name so far, the first one "" = nobody."""
    found: list[str] = []
    bus.watch_name(PLAYER.service, found.append)
    qtbot.waitUntil(lambda: found == [""])
    return found


def test_the_keys_go_to_the_reading_and_the_desktop_sees_its_state(
    player, owners, call, posted, qtbot
):
    player.on_event(OPENED)
    qtbot.waitUntil(lambda: bool(owners[-1]))  # the bus may hear the desktop's call before ours
    (found,) = call(PROPERTIES, "GetAll", "s", (INTERFACE,))
    assert found["PlaybackStatus"] == ("s", "Paused")
    assert found["Metadata"][1]["xesam:title"] == ("s", "A Book")
    assert call("org.mpris.MediaPlayer2.Player", "PlayPause") == ()
    player.on_event(api.ReadingChanged(aloud=True))
    for member in ("PlayPause", "Next", "Previous"):
        call(INTERFACE, member)
    assert call(PROPERTIES, "Get", "ss", (INTERFACE, "PlaybackStatus")) == (("s", "Playing"),)
    assert posted == [
        api.ReadAloud(),
        api.PauseReading(),
        api.SkipReading(api.Unit.PARAGRAPH, 1),
        api.SkipReading(api.Unit.PARAGRAPH, -1),
    ]
    assert call(INTERFACE, "Explode") is None
    assert call(PROPERTIES, "Get", "ss", (INTERFACE, "Nothing")) is None


def test_without_an_open_document_there_is_no_player(player, owners, qtbot):
    player.on_event(OPENED)
    qtbot.waitUntil(lambda: bool(owners[-1]))
    player.on_event(api.DocumentClosed())
    qtbot.waitUntil(lambda: owners[-1] == "")
    assert THE_BUS.service not in owners
