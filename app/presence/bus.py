"""D-Bus: one connection, read in Qt's event loop, without a thread. It calls services
and answers calls to objects of ours.

Invariant: once it is connected, nothing here waits. An answer arrives as a call; if a service
ended, D-Bus itself sends an error.
"""

import logging
import os
from collections.abc import Callable
from typing import NamedTuple

from jeepney import (
    DBusAddress,
    HeaderFields,
    Message,
    MessageType,
    new_error,
    new_method_call,
    new_method_return,
    new_signal,
)
from jeepney.io.blocking import DBusConnection, open_dbus_connection
from PySide6.QtCore import QObject, QSocketNotifier, Signal

logger = logging.getLogger(__name__)

_GREETING_S = 1.0  # for the bus to answer; a working one answers in a millisecond
_AT_ONCE = 200  # messages before the window can react again

Answer = tuple[str, tuple[object, ...]]  # the signature and the body of a method's result
Answered = Callable[[Message], None]
# Gets 'interface.member' and the message; None = there is no such method.
Serve = Callable[[str, Message], Answer | None]


class Address(NamedTuple):
    """An interface of an object of a service. `service`: its well-known name."""

    path: str
    service: str
    interface: str


THE_BUS = Address("/org/freedesktop/DBus", "org.freedesktop.DBus", "org.freedesktop.DBus")


class Bus(QObject):
    """The connection to the bus.

    Signals:
        lost: the connection has ended, and calls in progress will get no answer.
    """

    lost = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._connection: DBusConnection | None = None  # None = not connected
        self._notifier: QSocketNotifier | None = None
        self._asked: dict[int, Answered] = {}
        self._watchers: list[tuple[str, str, Answered]] = []  # interface and member of a signal
        self._served: dict[str, Serve] = {}  # by the object's path

    @property
    def is_connected(self) -> bool:
        return self._connection is not None

    @property
    def name(self) -> str:
        """This connection's unique name, such as ':1.42'; empty while it is not connected."""
        return self._connection.unique_name if self._connection is not None else ""

    def connect_to_session(self) -> bool:
        """Connect; return whether there is a bus. This waits for a second at most."""
        return self.connect_to(os.environ.get("DBUS_SESSION_BUS_ADDRESS", ""))

    def connect_to(self, address: str) -> bool:
        """Connect to the bus at an address, as connect_to_session() does."""
        if not address or self._connection is not None:
            return self._connection is not None
        try:
            connection = open_dbus_connection(address, auth_timeout=_GREETING_S)
        except Exception as error:  # noqa: BLE001 - any fault means that the bus cannot be used
            logger.info("no bus error=%r", error)
            return False
        self._connection = connection
        self._notifier = QSocketNotifier(connection.sock.fileno(), QSocketNotifier.Type.Read, self)
        self._notifier.activated.connect(self._on_readable)
        return True

    def close(self) -> None:
        """Disconnect; no call is answered any more."""
        if self._connection is None:
            return
        if self._notifier is not None:
            self._notifier.setEnabled(False)
        self._connection.close()
        self._connection = None
        self._asked.clear()

    def call(
        self,
        address: Address,
        method: str,
        signature: str = "",
        body: tuple[object, ...] = (),
        answered: Answered = lambda message: None,
    ) -> None:
        """Call a method, if connected; `answered` gets the result or the error."""
        connection = self._connection
        if connection is None:
            return
        service = DBusAddress(address.path, address.service, address.interface)
        serial = next(connection.outgoing_serial)
        self._asked[serial] = answered
        self._send(new_method_call(service, method, signature or None, body), serial)

    def serve(self, path: str, answer: Serve) -> None:
        """Answer the calls to an object of ours by this function."""
        self._served[path] = answer

    def emit_signal(
        self, path: str, interface: str, member: str, signature: str, body: tuple[object, ...]
    ) -> None:
        """Emit a signal of an object of ours."""
        self._send(new_signal(DBusAddress(path, interface=interface), member, signature, body))

    def watch(self, sender: str, interface: str, member: str, report: Answered) -> None:
        """Call `report` for every signal of this kind from `sender` (a well-known name)."""
        self._watchers.append((interface, member, report))
        rule = f"type='signal',sender='{sender}',interface='{interface}',member='{member}'"
        self.call(THE_BUS, "AddMatch", "s", (rule,))

    def watch_name(self, name: str, report: Callable[[str], None]) -> None:
        """Report the owner of a name now and at every change; empty = it has none."""

        def on_change(message: Message) -> None:
            if message.body[0] == name:
                report(message.body[2])

        def on_answer(message: Message) -> None:
            report("" if is_error(message) else message.body[0])

        self.watch(THE_BUS.service, THE_BUS.interface, "NameOwnerChanged", on_change)
        self.call(THE_BUS, "GetNameOwner", "s", (name,), on_answer)

    def _on_readable(self) -> None:
        for _ in range(_AT_ONCE):
            if self._connection is None:
                return
            try:
                message = self._connection.receive(timeout=0)
            except TimeoutError:
                return
            except (OSError, ValueError, EOFError) as error:  # disconnected, or not D-Bus
                self._lose(error)
                return
            self._hand_on(message)

    def _send(self, message: Message, serial: int | None = None) -> None:
        if self._connection is not None:
            try:
                self._connection.send(message, serial)
            except OSError as error:
                self._lose(error)

    def _on_call(self, message: Message) -> None:
        fields = message.header.fields
        called = f"{fields.get(HeaderFields.interface, '')}.{fields[HeaderFields.member]}"
        serve = self._served.get(fields.get(HeaderFields.path, ""))
        answer = None if serve is None else serve(called, message)
        if answer is None:
            self._send(new_error(message, "org.freedesktop.DBus.Error.UnknownMethod"))
        else:
            signature, body = answer
            self._send(new_method_return(message, signature or None, body))

    def _hand_on(self, message: Message) -> None:
        fields = message.header.fields
        match message.header.message_type:
            case MessageType.method_call:
                self._on_call(message)
            case MessageType.signal:
                about = (fields.get(HeaderFields.interface), fields.get(HeaderFields.member))
                for interface, member, report in list(self._watchers):
                    if about == (interface, member):
                        report(message)
            case _:
                answered = self._asked.pop(fields.get(HeaderFields.reply_serial, 0), None)
                if answered is not None:
                    answered(message)

    def _lose(self, error: Exception) -> None:
        logger.info("the session bus is gone error=%r", error)
        self.close()
        self.lost.emit()


def is_error(message: Message) -> bool:
    return bool(message.header.message_type is MessageType.error)


def signature_of(message: Message) -> str:
    """Return the signature of a method's result; empty for an error or a result without values."""
    return "" if is_error(message) else str(message.header.fields.get(HeaderFields.signature, ""))


def error_of(message: Message) -> str:
    """Return the text of an error message; empty if it has none."""
    body = message.body
    return str(body[0]) if body and isinstance(body[0], str) else ""


def path_of(message: Message) -> str:
    """Return the path of the object that sent a signal."""
    return str(message.header.fields.get(HeaderFields.path, ""))
