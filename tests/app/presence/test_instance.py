"""One instance: two starts at once, hostile clients, folders where others may write, rubbish."""

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.__main__ import main
from app.presence import ipc_client
from app.presence.instance import Claim, Instance
from app.presence.ipc_client import LONGEST_TEXT, Message, Order
from tests.help.process.fresh_python import ROOT, prints

# A program that claims, says what became of it, and stays until its standard input ends.
STAYS = """
import os, sys
from PySide6.QtCore import QCoreApplication, QSocketNotifier
from app.presence.instance import Claim, Instance
from app.presence.ipc_client import Order
application = QCoreApplication([])
answers = {Order.STOP: "", Order.STATUS: "speaking"}
instance = Instance(lambda message: answers.get(message.order, "No."))
claim = instance.claim()
print(claim.value, flush=True)
end = QSocketNotifier(0, QSocketNotifier.Type.Read)
end.activated.connect(application.quit)
if claim is Claim.OURS:
    application.exec()
"""


def test_of_two_starts_at_once_one_is_the_program_and_says_what_it_does(runtime, capsys):
    command, pipe = [sys.executable, "-c", STAYS], subprocess.PIPE
    with ExitStack() as stack:  # its end closes their input, and waits for them
        started = [
            stack.enter_context(
                subprocess.Popen(command, cwd=ROOT, stdin=pipe, stdout=pipe, text=True)
            )
            for _ in range(4)
        ]
        claims = sorted(each.stdout.readline().strip() for each in started)
        assert claims == ["ours", "taken", "taken", "taken"]
        assert ipc_client.send(Message(Order.STOP)) == ""
        assert ipc_client.tell(Message(Order.FASTER)) == 1
        assert ipc_client.tell(Message(Order.STATUS)) == 0
    assert capsys.readouterr() == ("speaking\n", "rubato: No.\n")


@pytest.fixture
def told() -> list[Message]:
    return []


@pytest.fixture
def instance(qapp, runtime: Path, told: list[Message]) -> Iterator[Instance]:
    def handle(message: Message) -> str:
        told.append(message)
        return "No." if message.text == "refuse" else ""

    made = Instance(handle)
    assert made.claim() is Claim.OURS
    yield made
    made.close()


@pytest.fixture
def channel(instance: Instance, runtime: Path) -> Iterator[socket.socket]:
    """A client that may write whatever it likes."""
    with socket.socket(socket.AF_UNIX) as made:
        made.connect(str(runtime / "rubato.sock"))
        made.setblocking(False)
        yield made


def answer(qtbot, channel: socket.socket) -> bytes:
    """All that comes until it hangs up."""
    parts: list[bytes] = []

    def hung_up() -> bool:
        with suppress(BlockingIOError):
            parts.append(channel.recv(4096))
        return bool(parts) and parts[-1] == b""

    qtbot.waitUntil(hung_up, timeout=10_000)
    return b"".join(parts)


@pytest.mark.parametrize(
    ("line", "told_so"),
    [(ipc_client.encode(Message(Order.SAY, "refuse")), b"No.\n"), (b"\xff\x00{}[]\n", b".\n")],
)
def test_why_something_is_refused_is_said_and_rubbish_does_nothing(
    qtbot, channel, told, line, told_so
):
    channel.sendall(line)
    assert answer(qtbot, channel).endswith(told_so)
    assert all(each.text == "refuse" for each in told)


def test_an_order_may_come_in_pieces_and_only_the_first_line_counts(qtbot, channel, told, runtime):
    assert (runtime / "rubato.sock").stat().st_mode & 0o077 == 0  # nobody else's
    lines = ipc_client.encode(Message(Order.SAY, "in pieces")) * 3
    channel.sendall(lines[:10])
    qtbot.wait(1)
    channel.sendall(lines[10:])
    assert answer(qtbot, channel) == b"\n"
    assert told == [Message(Order.SAY, "in pieces")]


def test_a_message_without_end_is_cut_off(qtbot, channel, told):
    filling = b"a" * 4096

    def cut_off() -> bool:
        try:
            channel.send(filling)
        except BlockingIOError:
            return False
        except (BrokenPipeError, ConnectionResetError):
            return True
        return False

    qtbot.waitUntil(cut_off, timeout=10_000)
    assert told == []


def test_silent_clients_are_hung_up_on_and_keep_nobody_out(
    qtbot, instance, runtime, told, monkeypatch
):
    monkeypatch.setattr("app.presence.instance._PATIENCE_MS", 300)
    silent = [socket.socket(socket.AF_UNIX) for _ in range(12)]
    try:
        for each in silent:
            each.connect(str(runtime / "rubato.sock"))
            qtbot.wait(1)
        assert len(instance._open) <= 8
        qtbot.waitUntil(lambda: not instance._open, timeout=10_000)
    finally:
        for each in silent:
            each.close()
    assert told == []


def test_a_folder_where_others_may_write_is_not_listened_in(qapp, runtime, monkeypatch):
    runtime.chmod(0o777)
    runtime.parent.chmod(0o500)  # nor can the folder for temporary files be made
    monkeypatch.setattr(ipc_client, "addresses", lambda: [str(runtime / "rubato.sock")])
    made = Instance(lambda message: "")
    assert made.claim() is Claim.CANNOT_LISTEN
    assert made.fault
    runtime.parent.chmod(0o700)


NO_ORDERS = (
    *([], ["say", "hello"], ["say", "--in-window"], ["say", "--in-window", "-"]),
    *(["say", "--in-window", "--help"], ["say --in-window"], ["talk"], ["talk press"]),
    *(["talk", "louder"], ["stop", "now"], ["greet"], ["models", "list"]),
)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        *(
            (order.value.split(), Message(order))
            for order in (Order.PRESS, Order.RELEASE, Order.TOGGLE, Order.STOP, Order.STATUS)
        ),
        (["say", "hello there", "--in-window"], Message(Order.SAY, "hello there")),
        (["say", "--in-window", "hello there"], Message(Order.SAY, "hello there")),
        *((words, None) for words in NO_ORDERS),
    ],
)
def test_an_order_is_written_as_it_is_called_and_what_is_none_left_to_the_command_line(
    words, message
):
    assert ipc_client.message_of(words) == message


@given(st.sampled_from(Order), st.text(max_size=80))
def test_what_is_encoded_is_decoded(order, text):
    line = ipc_client.encode(Message(order, text))
    assert line.count(b"\n") == 1
    assert line.endswith(b"\n")
    assert ipc_client.decode(line) == Message(order, text)


@given(st.binary(max_size=200))
def test_rubbish_is_refused_with_a_sentence(line):
    with pytest.raises(ValueError, match=r"[.]$"):
        ipc_client.decode(line)


@pytest.mark.parametrize(
    "line",
    [
        json.dumps(fields).encode()
        for fields in (
            {"order": "stop"},
            {"order": "explode", "text": "", "token": ""},
            {"order": "say --in-window", "text": "a" * (LONGEST_TEXT + 1), "token": ""},
            {"order": "say --in-window", "text": 7, "token": ""},
            {"order": "show", "text": "", "token": "a\nb"},
            {"order": "show", "text": "", "token": "a" * 1000},
            {"order": ["show"], "text": "", "token": ""},
            "show",
            [[[]]],
        )
    ]
    + [b"[" * 100_000],
    ids=lambda line: line[:40].decode(),
)
def test_a_message_with_a_wrong_field_is_refused(line):
    with pytest.raises(ValueError, match=r"[.]$"):
        ipc_client.decode(line)


def test_the_longest_text_of_the_widest_letters_fits_a_message():
    for letter in ("\U0001f600", "\0"):
        message = Message(Order.SAY, letter * LONGEST_TEXT)
        assert len(ipc_client.encode(message)) < ipc_client.LONGEST_MESSAGE


def test_another_data_folder_is_another_program_and_a_path_too_long_gives_way(runtime, monkeypatch):
    ours = ipc_client.addresses()
    assert ours[0] == str(runtime / "rubato.sock")
    with monkeypatch.context() as other:
        other.setenv("RUBATO_DATA", str(runtime / "other"))
        assert not set(ours) & set(ipc_client.addresses())
        same = ipc_client.addresses()
        other.setenv("HOME", str(runtime))
        other.setenv("RUBATO_DATA", "~/other")
        assert ipc_client.addresses() == same
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(runtime / ("long" * 30)))
    own = f"rubato-{os.getuid()}"
    assert ipc_client.addresses()[0] == str(runtime.parent / own / "rubato.sock")
    monkeypatch.setenv("TMPDIR", str(runtime / ("long" * 30)))
    assert ipc_client.addresses() == [f"/tmp/{own}/rubato.sock"]


def test_a_folder_where_others_may_write_is_not_believed(runtime):
    assert ipc_client.is_private(str(runtime))
    runtime.chmod(0o777)
    assert not ipc_client.is_private(str(runtime))
    link = runtime.parent / "link"
    link.symlink_to(runtime)
    assert not ipc_client.is_private(str(link))


def test_without_a_running_program_the_command_says_so(runtime, capsys):
    for words in (["talk", "toggle"], ["status"]):
        assert main(words) == 1
        told = capsys.readouterr()
        assert told.out == ""
        assert "not running" in told.err
        assert "`rubato`" in told.err


def test_the_client_loads_neither_qt_nor_the_engine(runtime):
    heavy = ("PySide6", "engine", "argparse", "logging", "app.command.cli")
    script = (
        "import sys; from app.__main__ import main; status = main(['talk', 'toggle'])\n"
        f"print(status, *[name for name in {heavy!r} if name in sys.modules])"
    )
    assert prints(script) == "1"


@pytest.mark.parametrize(
    ("fault", "expected"),
    [
        (FileNotFoundError(), ipc_client.NotRunning),
        (PermissionError(), ipc_client.NoAnswer),  # a pipe of another person
        (OSError(22, "All pipe instances are busy"), ipc_client.NoAnswer),
    ],
)
def test_a_pipe_of_windows_that_cannot_be_opened_is_told(monkeypatch, fault, expected):
    def refuse(*_: object, **__: object) -> None:
        raise fault

    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setattr(ipc_client, "open", refuse, raising=False)
    with pytest.raises(expected):
        ipc_client.send(Message(Order.STOP))
