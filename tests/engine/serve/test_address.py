"""The address of a server, and its socket."""

import socket
from dataclasses import replace

from engine.serve.address import HERE, Address, listen
from engine.settings import ServeSettings, Settings


def test_a_connection_sends_at_once_and_finds_out_when_the_other_machine_has_gone() -> None:
    with listen("127.0.0.1", 0) as listener, socket.create_connection(listener.getsockname()):
        connection, _ = listener.accept()
        with connection:
            assert connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
            assert connection.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)


def test_a_server_is_known_by_its_own_names_and_those_of_the_settings() -> None:
    settings = replace(Settings(), serve=ServeSettings(names="Host.docker.internal, box.example"))
    more = {"host.docker.internal", "box.example"}
    assert Address().names(settings) == HERE | more
    assert Address("0.0.0.0").names(settings) >= HERE | more | {"0.0.0.0"}
    assert Address().names(Settings()) == HERE
