"""Sends commands to the running Rubato, from a key that the desktop binds, or from a terminal.

Invariant: imports only small parts of the standard library, no Qt and no engine, because a key
press must act at once. One message per connection, one line of JSON each way.
"""

import json
import os
import socket
import stat
import sys
import zlib
from collections.abc import Sequence
from enum import Enum
from typing import NamedTuple

LONGEST_MESSAGE = 131_072  # bytes; the longest text with everything escaped in JSON
LONGEST_TEXT = 20_000  # characters, as in the window's own line
_TOO_LONG = f"The text is too long: {LONGEST_TEXT} characters is the most."
_LONGEST_TOKEN = 200
_LONGEST_PATH = 103  # bytes of a socket's address on macOS; Linux has 107
STATES = ("starting", "idle", "listening", "thinking", "speaking")  # answers to STATUS
_PATIENCE_S = 5.0  # a starting program answers only after its first frame


class Order(Enum):
    """The commands; the value is the word on the command line."""

    PRESS = "talk press"
    RELEASE = "talk release"
    TOGGLE = "talk toggle"
    STOP = "stop"
    FASTER = "faster"
    SLOWER = "slower"
    SELECTION = "read-selection"
    SAY = "say --in-window"
    SHOW = "show"  # sent by a second start to the first
    STATUS = "status"  # the answer is one of STATES
    PING = "greet"  # only asks whether one is running


class Message(NamedTuple):
    """A command with its arguments. `text` is for SAY; `token` is the desktop's permission to take
    the focus (XDG activation).
    """

    order: Order
    text: str = ""
    token: str = ""


class NotRunning(Exception):
    """No Rubato of this person is running."""


class NoAnswer(Exception):
    """The running Rubato did not answer in time, or disconnected."""


def encode(message: Message) -> bytes:
    fields = {"order": message.order.value, "text": message.text, "token": message.token}
    return json.dumps(fields, ensure_ascii=False).encode("utf-8", "replace") + b"\n"


def decode(line: bytes) -> Message:
    """Parse a line that encode() wrote. ValueError with the reason for any other line."""
    try:
        given = json.loads(line)
        order, text, token = Order(given["order"]), given["text"], given["token"]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise ValueError("This Rubato does not know that order.") from error
    if not isinstance(text, str) or len(text) > LONGEST_TEXT:
        raise ValueError(_TOO_LONG)
    if not isinstance(token, str) or len(token) > _LONGEST_TOKEN or not token.isprintable():
        raise ValueError("The activation token is not one.")
    return Message(order, text, token)


def send(message: Message) -> str:
    """Send a message to the running Rubato. Return "" after success, otherwise a sentence with the
    reason; for STATUS one of STATES. NotRunning if there is none, NoAnswer if it does not answer.
    """
    if len(message.text) > LONGEST_TEXT:
        return _TOO_LONG
    try:
        answer = _exchange(encode(message))
    except (TimeoutError, ConnectionResetError, BrokenPipeError) as error:
        raise NoAnswer from error
    if not answer.endswith(b"\n"):
        raise NoAnswer
    return answer.decode("utf-8", "replace").strip()


def addresses() -> list[str]:
    """Return the possible addresses of the running Rubato, best first: paths of sockets, or on
    Windows the name of a pipe. Each data folder has a Rubato of its own.
    """
    data = os.environ.get("RUBATO_DATA", "")
    mark = f"-{zlib.crc32(os.path.abspath(os.path.expanduser(data)).encode()):08x}" if data else ""
    if sys.platform == "win32":
        return [f"rubato-{os.environ.get('USERNAME', '')}{mark}"]
    paths = [os.path.join(folder, f"rubato{mark}.sock") for folder in _folders()]
    return [path for path in paths if len(os.fsencode(path)) <= _LONGEST_PATH]


def is_private(folder: str) -> bool:
    """True if a folder belongs to this person and no other user can put a socket there."""
    try:
        found = os.lstat(folder)
    except OSError:
        return False
    own = stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid()
    return own and not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def tell(message: Message) -> int:
    """Send a message and report a failure on standard error. Return the exit status."""
    status = _send_or_report(message)
    if status is None:
        return _reported(
            "Rubato is not running.\n  Start it with `rubato`, or `rubato --start-hidden`."
        )
    return status


def raise_running(*, hidden: bool = False) -> int | None:
    """Make the running Rubato show its window, unless this start is hidden; return the exit status,
    or None when none runs.
    """
    shown = Message(Order.SHOW, token=activation_token())
    return _send_or_report(Message(Order.PING) if hidden else shown)


def activation_token() -> str:
    """Return the desktop's permission to take the focus; empty if it gave none."""
    return os.environ.get("XDG_ACTIVATION_TOKEN", "")[:_LONGEST_TOKEN]


def message_of(arguments: Sequence[str]) -> Message | None:
    """Return the message for a command line; None for other commands and for invalid arguments."""
    words = list(arguments)
    if words[:1] == ["say"] and words.count("--in-window") == 1 and len(words) == 3:
        words.remove("--in-window")
        plain = not words[1].startswith("-")  # - is standard input, --voice an option
        return Message(Order.SAY, text=words[1]) if plain else None
    orders = {order.value: order for order in Order if order not in (Order.SAY, Order.PING)}
    order = orders.get(" ".join(words))
    if order is None or len(words) != len(order.value.split()):
        return None
    return Message(order, token=activation_token() if order is Order.SHOW else "")


def _send_or_report(message: Message) -> int | None:
    try:
        answer = send(message)
    except NotRunning:
        return None
    except NoAnswer:
        return _reported(
            "Rubato runs but does not answer.\n  If it stays so, end it and start again."
        )
    if message.order is Order.STATUS and answer in STATES:
        sys.stdout.write(f"{answer}\n")
        return 0
    return _reported(answer)


def _reported(refusal: str) -> int:
    if refusal:
        sys.stderr.write(f"rubato: {refusal}\n")
    return 1 if refusal else 0


def _folders() -> list[str]:
    """Return the person's runtime folder, or else a temporary folder of our own. A folder in /tmp
    follows, because a path may be too long for a socket.
    """
    own = f"rubato-{os.getuid()}"
    temporary = (os.environ.get("TMPDIR") or "/tmp", "/tmp")
    folders = [os.environ.get("XDG_RUNTIME_DIR", ""), *(os.path.join(t, own) for t in temporary)]
    return [folder for folder in dict.fromkeys(folders) if os.path.isabs(folder)]


def _exchange(line: bytes) -> bytes:
    for address in addresses():
        try:
            return _over_pipe(address, line) if sys.platform == "win32" else _over(address, line)
        except (FileNotFoundError, ConnectionRefusedError, NotADirectoryError):
            continue  # no program listens, or a crash left the socket
    raise NotRunning


def _over(path: str, line: bytes) -> bytes:
    if not is_private(os.path.dirname(path)):
        raise FileNotFoundError(path)
    with socket.socket(socket.AF_UNIX) as channel:
        channel.settimeout(_PATIENCE_S)
        channel.connect(path)
        channel.sendall(line)
        answer = b""
        while (more := channel.recv(4096)) and len(answer) < LONGEST_MESSAGE:
            answer += more
        return answer


def _over_pipe(name: str, line: bytes) -> bytes:
    try:
        with open(rf"\\.\pipe\{name}", "r+b", buffering=0) as pipe:
            pipe.write(line)
            return pipe.read(4096)
    except FileNotFoundError:
        raise
    except OSError as error:  # too many connections, or it belongs to another person
        raise TimeoutError from error
