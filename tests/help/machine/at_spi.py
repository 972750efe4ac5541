"""AT-SPI, the interface of screen readers on Linux: its daemons on a private bus, and a reader.

Invariant: the daemons are started before the program (otherwise a cold Qt shows an empty tree), and
end with the context.
"""

import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jeepney import DBusAddress, HeaderFields, MatchRule, Properties, new_method_call
from jeepney.bus_messages import message_bus
from jeepney.io.blocking import DBusConnection, open_dbus_connection

from tests.help.machine.private_bus import private_bus
from tests.help.machine.virtual_desktop import missing_programs, virtual_desktop

# of the package at-spi2-core
_LAUNCHERS = ("/usr/libexec/at-spi-bus-launcher", "/usr/lib/at-spi-bus-launcher")
_REGISTRY = "org.a11y.atspi.Registry"
_ROOT = "/org/a11y/atspi/accessible/root"
_ACCESSIBLE = "org.a11y.atspi.Accessible"
_EVENTS = "org.a11y.atspi.Event.Object"
PATIENCE_S = 60.0


@dataclass(frozen=True)
class Node:
    """An accessible object: the program's name on the bus, and the object's path."""

    bus: str
    path: str


class Reader:
    """Reads the accessible objects as a screen reader does."""

    def __init__(self, address: str) -> None:
        self._bus: DBusConnection = open_dbus_connection(address)
        announced = MatchRule(type="signal", interface=_EVENTS, member="Announcement")
        self._ask(message_bus.AddMatch(announced))
        self._register()
        self._announced = self._bus.filter(announced, bufsize=50).__enter__()

    def _register(self) -> None:
        """The registry is started by the launcher and by this call; where both come at once, one of
        them leaves without an answer.
        """
        registry = DBusAddress("/org/a11y/atspi/registry", _REGISTRY, _REGISTRY)
        wish = new_method_call(registry, "RegisterEvent", "sas", ("object:announcement", []))
        _once_there(self._bus, wish, "AT-SPI's registry")

    def close(self) -> None:
        self._bus.close()

    def window(self, title: str) -> Node:
        """The program's window, once it is there."""
        deadline = time.monotonic() + PATIENCE_S
        while time.monotonic() < deadline:
            for program in self.children(Node(_REGISTRY, _ROOT)):
                for window in self.children(program):
                    if self.name(window) == title:
                        return window
        raise AssertionError(f"nobody showed a window called {title}")

    def everything(self, node: Node) -> Iterator[Node]:
        """The node and all below it."""
        yield node
        for child in self.children(node):
            yield from self.everything(child)

    def find(self, node: Node, role: str, name: str) -> Node:
        for each in self.everything(node):
            if self.name(each) == name and self.role(each) == role:
                return each
        raise AssertionError(f"there is no {role} called {name}")

    def children(self, node: Node) -> list[Node]:
        return [Node(*each) for each in self._call(node, _ACCESSIBLE, "GetChildren")]

    def role(self, node: Node) -> str:
        return str(self._call(node, _ACCESSIBLE, "GetRoleName"))

    def name(self, node: Node) -> str:
        return str(self._get(node, _ACCESSIBLE, "Name"))

    def is_active(self, window: Node) -> bool:
        low, _ = self._call(window, _ACCESSIBLE, "GetState")
        return bool(low >> 1 & 1)  # ATSPI_STATE_ACTIVE

    def description(self, node: Node) -> str:
        return str(self._get(node, _ACCESSIBLE, "Description"))

    def value(self, node: Node) -> float:
        return float(self._get(node, "org.a11y.atspi.Value", "CurrentValue"))

    def set_value(self, node: Node, value: float) -> None:
        where = DBusAddress(node.path, node.bus, "org.a11y.atspi.Value")
        self._ask(Properties(where).set("CurrentValue", "d", value))

    def act(self, node: Node) -> None:
        """Do what the thing is for: press it."""
        self._call(node, "org.a11y.atspi.Action", "DoAction", "i", (0,))

    def type(self, node: Node, text: str) -> None:
        self._call(node, "org.a11y.atspi.EditableText", "SetTextContents", "s", (text,))

    def next_announcement(self) -> str:
        message = self._bus.recv_until_filtered(self._announced, timeout=PATIENCE_S)
        return str(message.body[3][1])

    def _get(self, node: Node, interface: str, name: str) -> Any:
        where = DBusAddress(node.path, node.bus, interface)
        return self._ask(Properties(where).get(name))[1]

    def _call(
        self,
        node: Node,
        interface: str,
        method: str,
        signature: str | None = None,
        body: tuple[Any, ...] = (),
    ) -> Any:
        where = DBusAddress(node.path, node.bus, interface)
        return self._ask(new_method_call(where, method, signature, body))

    def _ask(self, message: Any) -> Any:
        reply = self._bus.send_and_get_reply(message, timeout=PATIENCE_S)
        error = reply.header.fields.get(HeaderFields.error_name)
        assert error is None, f"{error}: {reply.body}"
        return reply.body[0] if reply.body else None


@contextmanager
def accessible_desktop() -> Iterator[tuple[Reader, dict[str, str]]]:
    """Start a bus, a display and AT-SPI. Yield a reader, and the environment of programs that it
    reads.
    """
    assert not missing_programs(), missing_programs()
    assert any(Path(each).exists() for each in _LAUNCHERS), "the test needs at-spi2-core"
    with (
        tempfile.TemporaryDirectory(prefix="rubato-test") as folder,
        private_bus(Path(folder)) as bus,
        virtual_desktop() as desktop,
    ):
        environment = {
            **desktop.environment,
            "DBUS_SESSION_BUS_ADDRESS": bus,
            "XDG_RUNTIME_DIR": folder,
            "QT_LINUX_ACCESSIBILITY_ALWAYS_ON": "1",
        }
        with at_spi(environment) as reader:
            yield reader, environment


@contextmanager
def at_spi(environment: dict[str, str]) -> Iterator[Reader]:
    """Start the daemons on the session bus of this environment. Yield a reader that listens from
    now on.
    """
    quiet = subprocess.DEVNULL
    program = next(each for each in _LAUNCHERS if Path(each).exists())
    launcher = subprocess.Popen(
        [program, "--launch-immediately"], env=environment, stdout=quiet, stderr=quiet
    )
    try:
        reader = Reader(_address(environment["DBUS_SESSION_BUS_ADDRESS"]))
        try:
            yield reader
        finally:
            reader.close()
    finally:
        launcher.terminate()
        launcher.wait()


def _address(session: str) -> str:
    """Return the address of AT-SPI's own bus, once its launcher reports one."""
    where = DBusAddress("/org/a11y/bus", "org.a11y.Bus", "org.a11y.Bus")
    with open_dbus_connection(session) as bus:
        return str(_once_there(bus, new_method_call(where, "GetAddress"), "AT-SPI's bus"))


def _once_there(bus: DBusConnection, wish: Any, what: str) -> Any:
    """Repeat a call until it is answered."""
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        reply = bus.send_and_get_reply(wish)
        if HeaderFields.error_name not in reply.header.fields:
            return reply.body[0] if reply.body else None
    raise AssertionError(f"{what} did not come")
