"""One Rubato for each person: the first start listens, and every later one sends it a message.

Invariant: a socket left by a crash is removed only under a lock and after no program answered
there. Messages are limited in size and checked, even those from the person's own programs.
"""

import logging
import os
import sys
import tempfile
from collections.abc import Callable
from enum import Enum
from pathlib import Path

from filelock import FileLock, Timeout
from PySide6.QtCore import QObject, QTimer
from PySide6.QtNetwork import QLocalServer, QLocalSocket

from app.language import tr
from app.presence import ipc_client
from app.presence.ipc_client import LONGEST_MESSAGE, Message

logger = logging.getLogger(__name__)

Handle = Callable[[Message], str]

_AT_ONCE = 8  # connections; more are never needed
_PATIENCE_MS = 3000  # until a message must be complete
_LOCK_S = 5.0  # another start holds it for milliseconds
_LOOK_MS = 1000


class Claim(Enum):
    """The result of an attempt to become the person's only Rubato."""

    OURS = "ours"
    TAKEN = "taken"  # another one listens
    CANNOT_LISTEN = "cannot listen"  # no program listens, and we cannot either: see Instance.fault


class Instance(QObject):
    """Receives messages as the person's only Rubato. `handle` carries out a message and returns "",
    or a sentence with the reason why not.
    """

    def __init__(self, handle: Handle) -> None:
        super().__init__()
        self._handle = handle
        self._server = QLocalServer(self)
        self._server.setSocketOptions(QLocalServer.SocketOption.UserAccessOption)
        self._server.setMaxPendingConnections(_AT_ONCE)
        self._server.newConnection.connect(self._on_connections)
        self._open: set[QLocalSocket] = set()
        self.fault = ""  # why it cannot listen

    def claim(self) -> Claim:
        """Listen where ipc_client.send() connects, unless another process already does."""
        self.fault = tr("There is no private folder whose path is short enough for a socket.")
        for address in ipc_client.addresses():
            folder = Path(address).parent
            if sys.platform == "win32":
                folder = Path(tempfile.gettempdir())  # a pipe has none of its own
            elif not _prepared(folder):
                continue
            try:
                with FileLock(folder / f"{Path(address).name}.lock", timeout=_LOCK_S, mode=0o600):
                    return self._claim(address)
            except (OSError, Timeout) as error:
                self.fault = str(error)
        return Claim.CANNOT_LISTEN

    def close(self) -> None:
        """Stop listening and remove the socket."""
        self._server.close()
        for each in list(self._open):
            each.abort()

    def _claim(self, address: str) -> Claim:
        if _answers(address):
            return Claim.TAKEN
        QLocalServer.removeServer(address)
        if self._server.listen(address):
            return Claim.OURS
        self.fault = self._server.errorString()
        return Claim.CANNOT_LISTEN

    def _on_connections(self) -> None:
        while self._server.hasPendingConnections():
            self._receive(self._server.nextPendingConnection())

    def _receive(self, channel: QLocalSocket) -> None:
        if len(self._open) >= _AT_ONCE:
            channel.abort()
            channel.deleteLater()
            return
        self._open.add(channel)
        channel.setReadBufferSize(LONGEST_MESSAGE + 1)
        channel.readyRead.connect(lambda: self._on_bytes(channel))
        channel.disconnected.connect(lambda: self._forget(channel))
        QTimer.singleShot(_PATIENCE_MS, channel, lambda: channel.abort())
        self._on_bytes(channel)

    def _on_bytes(self, channel: QLocalSocket) -> None:
        if channel.canReadLine():
            self._answer(channel, bytes(channel.readLine().data()))
        elif channel.bytesAvailable() > LONGEST_MESSAGE:
            channel.abort()

    def _answer(self, channel: QLocalSocket, line: bytes) -> None:
        channel.readyRead.disconnect()  # only one message is allowed
        try:
            refusal = self._handle(ipc_client.decode(line))
        except ValueError as error:
            refusal = str(error)
        channel.write(refusal.encode("utf-8", "replace") + b"\n")
        channel.disconnectFromServer()  # after the answer is written

    def _forget(self, channel: QLocalSocket) -> None:
        self._open.discard(channel)
        channel.deleteLater()


def _prepared(folder: Path) -> bool:
    """Return True if the folder is fit for a socket; create it if it is ours."""
    if folder.name.startswith("rubato-"):
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            logger.info("no folder for the socket error=%s", error)
    return ipc_client.is_private(os.fspath(folder))


def _answers(address: str) -> bool:
    """Return True if a program accepts a connection at the address."""
    channel = QLocalSocket()
    channel.connectToServer(address)
    found = channel.waitForConnected(_LOOK_MS)
    channel.abort()
    return found
