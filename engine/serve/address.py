"""The address that a server listens on, and its socket."""

import ipaddress
import socket
from dataclasses import dataclass
from typing import Final

from engine.errors import InvalidInput
from engine.settings import Settings

HERE: Final = frozenset({"localhost", "127.0.0.1", "::1"})
_KEPT_S: Final = 60  # before a silent client's machine is probed


@dataclass(frozen=True)
class Address:
    """The address to listen on; port 0 takes a free one. `wyoming`: the port for Home Assistant,
    which sends no token; None = none.
    """

    host: str = "127.0.0.1"
    port: int = 8790
    wyoming: int | None = None

    @property
    def is_here(self) -> bool:
        """Whether only this machine can reach it."""
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return self.host == "localhost"

    def names(self, settings: Settings) -> frozenset[str]:
        """Return the host names of a server there; the connection knows its numeric addresses."""
        own = socket.gethostname().lower()
        known = HERE if self.is_here else HERE | {self.host.lower(), own, f"{own}.local"}
        return known | frozenset(settings.serve.names.lower().replace(",", " ").split())

    def base(self, port: int) -> str:
        """Return the beginning of all its URLs, on this port."""
        return f"http://[{self.host}]:{port}" if ":" in self.host else f"http://{self.host}:{port}"


def listen(host: str, port: int) -> socket.socket:
    """Return a listening socket. InvalidInput if the address cannot be used."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listener = socket.create_server((host, port), family=family)
    except (OSError, OverflowError) as error:
        raise InvalidInput(
            "The server cannot use the address {host}, port {port}: {error}.",
            hint="Choose another address or port. Another program may be using this one.",
            host=host,
            port=port,
            error=error,
        ) from error
    # Connections inherit it. asyncio sets it only if a socket names its protocol; without it a
    # small message waits until the client has acknowledged the one before: 40 ms.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    # A client may be silent as long as its machine is reachable.
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    if hasattr(socket, "TCP_KEEPIDLE"):  # otherwise the system probes only after two hours
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, _KEPT_S)
    return listener
