"""Messages to the running program: what a command line means, and that rubbish is refused."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.presence import ipc_client
from app.presence.ipc_client import LONGEST_TEXT, Message, Order

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        *(
            (order.value.split(), Message(order))
            for order in (Order.PRESS, Order.RELEASE, Order.TOGGLE, Order.STOP, Order.STATUS)
        ),
        (["say", "hello there", "--in-window"], Message(Order.SAY, "hello there")),
        (["say", "--in-window", "hello there"], Message(Order.SAY, "hello there")),
    ],
)
def test_an_order_is_written_as_it_is_called(words, message):
    assert ipc_client.message_of(words) == message


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["say", "hello"],
        ["say", "--in-window"],
        ["say", "--in-window", "-"],
        ["say", "--in-window", "--help"],
        ["say --in-window"],
        ["talk"],
        ["talk press"],
        ["talk", "louder"],
        ["stop", "now"],
        ["greet"],
        ["models", "list"],
    ],
)
def test_what_is_no_order_is_left_to_the_command_line(words):
    assert ipc_client.message_of(words) is None


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


def test_without_a_running_program_the_command_says_so_and_there_is_no_state(runtime):
    assert ipc_client.state() is None
    for words in (["talk", "toggle"], ["status"]):
        done = rubato(*words)
        assert (done.returncode, done.stdout) == (1, "")
        assert "not running" in done.stderr
        assert "`rubato`" in done.stderr


def test_the_client_loads_neither_qt_nor_the_engine(runtime):
    heavy = ("PySide6", "engine", "argparse", "logging", "app.command.cli")
    script = (
        "import sys; from app.__main__ import main; status = main(['talk', 'toggle'])\n"
        f"print(status, *[name for name in {heavy!r} if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["1"]


def rubato(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "app", *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )


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
