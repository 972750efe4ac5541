"""A private D-Bus for tests, and services on it that a test controls.

Invariant: the person's bus is never used; everything that is started here ends with its context.
"""

import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from queue import Queue
from shutil import which
from typing import Any

from jeepney import DBusAddress, HeaderFields, Message, MessageType, new_signal
from jeepney.bus_messages import message_bus
from jeepney.io.blocking import open_dbus_connection
from jeepney.wrappers import new_error, new_method_return

# Everybody may say everything, and nothing is started by being called.
_CONFIG = """<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig><type>session</type><listen>unix:path={folder}/bus</listen>
<policy context="default"><allow send_destination="*" eavesdrop="true"/><allow own="*"/>
<allow eavesdrop="true"/></policy></busconfig>
"""
Answer = tuple[str, tuple[Any, ...]]
Method = Callable[[Message], Answer]


class Refused(Exception):
    """Raised by a service's method to answer with an error."""


def is_missing() -> bool:
    return which("dbus-daemon") is None


@contextmanager
def private_bus(folder: Path) -> Iterator[str]:
    """Start a bus in `folder`, whose path must be short enough for a socket. Yield its address."""
    config = folder / "bus.conf"
    config.write_text(_CONFIG.format(folder=folder))
    command = ["dbus-daemon", f"--config-file={config}", "--nofork", "--print-address=1"]
    daemon = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        assert daemon.stdout is not None
        address = daemon.stdout.readline().strip()
        assert address, "the bus did not start"
        yield address
    finally:
        daemon.kill()
        daemon.communicate()


class Service:
    """A service on a bus, in its own thread. `methods`: functions by 'interface.member'."""

    def __init__(self, address: str, name: str, methods: dict[str, Method]) -> None:
        self.called: Queue[Message] = Queue()  # every call that came, in order
        self._methods = methods
        self._connection = open_dbus_connection(address)
        self._lock = threading.Lock()
        self._connection.send_and_get_reply(message_bus.RequestName(name))
        self._thread = threading.Thread(target=self._serve, name=f"fake {name}")
        self._thread.start()

    def emit(
        self, path: str, interface: str, member: str, signature: str, body: tuple[Any, ...]
    ) -> None:
        about = DBusAddress(path, interface=interface)
        self._send(new_signal(about, member, signature, body))

    def leave(self) -> None:
        """Disconnect from the bus without notice, as in a crash."""
        with suppress(OSError):
            self._connection.sock.shutdown(2)
        self._thread.join(10)

    def next_call(self, timeout_s: float = 10.0) -> Message:
        return self.called.get(timeout=timeout_s)

    def has_calls(self) -> bool:
        return not self.called.empty()

    def _serve(self) -> None:
        with suppress(OSError, EOFError, ValueError):
            while True:
                message = self._connection.receive()
                if message.header.message_type is MessageType.method_call:
                    self._send(self._answer(message))
                    self.called.put(message)
        self._connection.close()

    def _answer(self, message: Message) -> Message:
        fields = message.header.fields
        called = f"{fields.get(HeaderFields.interface)}.{fields[HeaderFields.member]}"
        method = self._methods.get(called)
        if method is None:
            return new_error(message, "org.freedesktop.DBus.Error.UnknownMethod", "s", (called,))
        try:
            signature, body = method(message)
        except Refused as error:
            return new_error(message, "org.freedesktop.DBus.Error.Failed", "s", (str(error),))
        return new_method_return(message, signature or None, body)

    def _send(self, message: Message) -> None:
        with self._lock, suppress(OSError):
            self._connection.send(message)


def member_of(message: Message) -> str:
    return str(message.header.fields[HeaderFields.member])
