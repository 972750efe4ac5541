"""Crash notes: told once at the next start, kept small, and nothing of the person."""

import logging
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine import crash_notes
from engine.crash_notes import CrashNotes, PlainFormatter, error_lines, fatal_lines, place
from engine.messages.words import Part

ROOT = Path(__file__).parents[2]


@pytest.fixture
def notes(tmp_path: Path) -> Iterator[CrashNotes]:
    made = CrashNotes(tmp_path / "notes")
    yield made
    made.end()


def run(folder: Path, statement: str) -> int:
    """A program that keeps notes in a folder, and does one thing."""
    script = (
        "import sys\nfrom pathlib import Path\nfrom engine.crash_notes import CrashNotes\n"
        f"notes = CrashNotes(Path({str(folder)!r}))\nnotes.begin()\n{statement}\nnotes.end()\n"
    )
    command = [sys.executable, "-c", script]
    return subprocess.run(command, cwd=ROOT, capture_output=True, check=False).returncode


@pytest.mark.parametrize(
    ("statement", "what"),
    [
        (
            "import threading\nt = threading.Thread(target=lambda: 1 / 0)\nt.start(); t.join()",
            "ZeroDivisionError",
        ),
        ("import faulthandler\nfaulthandler._sigsegv()", "Segmentation fault"),
        ("import os\nos.abort()", "Aborted"),
    ],
)
def test_what_broke_is_told_at_the_next_start_and_only_then(statement, what, notes, tmp_path):
    assert run(tmp_path / "notes", "pass") == 0
    assert (notes.begin(), notes.crashes()) == ("", [])  # a quiet run leaves nothing to tell
    notes.end()
    run(tmp_path / "notes", statement)
    assert f"({what})" in notes.begin()
    assert any(what in line for line in notes.crashes())
    notes.end()
    assert notes.begin() == ""
    assert any(what in line for line in notes.crashes()), "diagnostics still know it"


def test_no_file_holds_what_an_error_said_and_all_are_the_person_s_alone(tmp_path):
    folder = tmp_path / "notes"
    run(folder, f"import logging\nlogging.getLogger('engine.x').error('%s', {SECRET!r})")
    run(folder, f"raise ValueError({SECRET!r})")
    files = list(folder.iterdir())
    written = [file.read_text() for file in files]
    assert any("ValueError" in text for text in written)
    assert any("ERROR engine.x: …" in text for text in written)
    assert not any(SECRET in text for text in written)
    if sys.platform != "win32":  # files have no such modes there
        assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_who_listened_before_is_heard_again_and_no_disk_is_filled(notes, tmp_path):
    before = (sys.excepthook, threading.excepthook, sys.unraisablehook)
    handlers = list(logging.getLogger().handlers)
    notes.begin()
    assert sys.excepthook is not before[0]
    for _ in range(3000):
        notes.note("a test", ValueError(SECRET))
    assert sum(file.stat().st_size for file in (tmp_path / "notes").iterdir()) < 512 * 1024
    notes.end()
    assert (sys.excepthook, threading.excepthook, sys.unraisablehook) == before
    assert logging.getLogger().handlers == handlers


def test_where_nothing_can_be_written_the_program_goes_on(notes, tmp_path, monkeypatch):
    def full(path: Path) -> None:
        raise OSError(28, "No space left on device")

    (tmp_path / "file").write_text("a file where the folder should be")
    nowhere = CrashNotes(tmp_path / "file")
    assert nowhere.begin() == ""
    nowhere.note("a test", ValueError())
    assert nowhere.crashes() == nowhere.log() == []
    nowhere.end()
    notes.begin()
    monkeypatch.setattr(crash_notes, "_private", full)
    notes.note("a test", ValueError())
    assert notes.crashes() == []


SECRET = "Aunt Petunia"


def line(name: str, message: str, *arguments: object, error: Exception | None = None) -> str:
    info = (type(error), error, None) if error else None
    record = logging.LogRecord(name, logging.WARNING, "/x.py", 1, message, arguments, info)
    return PlainFormatter().format(record)


@pytest.mark.parametrize(
    ("name", "message", "arguments", "told"),
    [
        (
            "engine.tts",
            "left out n=%d ms=%.1f part=%s name=%s",
            (3, 2.5, Part.MICROPHONE, SECRET),
            "left out n=3 ms=2.5 part=MICROPHONE name=…",
        ),
        ("app.x", "took %d", (SECRET,), "took %d"),  # a number's format: the line stays readable
        ("app.x", "no bus error=%r", (OSError(2, SECRET),), "no bus error='FileNotFoundError [2]'"),
        ("httpx", f"GET {SECRET}", (), "…"),  # of strangers only who spoke
    ],
)
def test_numbers_and_words_of_our_own_are_told_and_text_is_not(name, message, arguments, told):
    assert line(name, message, *arguments).endswith(f"WARNING {name}: {told}")


def raised() -> Exception:
    try:
        {}[int(SECRET)]
    except ValueError as cause:
        error = KeyError(SECRET).with_traceback(cause.__traceback__)
        error.__cause__ = cause
        return error
    raise AssertionError("an aunt is no number")


def test_an_error_is_told_with_what_caused_it_and_without_its_message():
    told = error_lines(raised())
    assert [each.strip() for each in told if each[2] != " "] == ["KeyError", "ValueError"]
    assert "test_crash_notes.py:" in told[1]
    assert SECRET not in "\n".join(told)
    assert SECRET not in line("engine.x", "failed", error=raised())


@pytest.mark.parametrize(
    ("file", "known"),
    [
        (str(Path(crash_notes.__file__)), "engine/crash_notes.py"),
        ("/srv/anna/.venv/lib/python3.11/site-packages/torch/nn.py", "torch/nn.py"),
        (r"C:\Users\anna\env\Lib\site-packages\torch\nn.py", "torch/nn.py"),
        ("/srv/engine/anna/notes.py", "notes.py"),
        ("<string>", "<string>"),
    ],
)
def test_a_place_in_the_code_names_no_folder_of_the_person(file, known):
    assert place(file) == known


def test_what_faulthandler_writes_is_told_without_its_folders():
    text = (
        "Fatal Python error: Segmentation fault\n\nCurrent thread 0x00007f (most recent call "
        'first):\n  File "/srv/anna/site-packages/torch/nn.py", line 7 in step\n'
        "Extension modules: /srv/anna/x.so\n"
    )
    assert fatal_lines(text) == [
        "  Segmentation fault",
        "  a thread, innermost first:",
        "    torch/nn.py:7 in step",
    ]
