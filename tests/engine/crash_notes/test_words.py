"""What is told of faults and of the log: the source's words and numbers, nothing of the person."""

import logging
from pathlib import Path

import pytest

from engine.crash_notes import words
from engine.messages.words import Part

SECRET = "Aunt Petunia"


def line(name: str, message: str, *arguments: object, error: Exception | None = None) -> str:
    info = (type(error), error, None) if error else None
    record = logging.LogRecord(name, logging.WARNING, "/x.py", 1, message, arguments, info)
    return words.PlainFormatter().format(record)


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
    told = words.told(raised())
    assert [each.strip() for each in told if each[2] != " "] == ["KeyError", "ValueError"]
    assert "test_words.py:" in told[1]
    assert SECRET not in "\n".join(told)
    assert SECRET not in line("engine.x", "failed", error=raised())


@pytest.mark.parametrize(
    ("file", "known"),
    [
        (str(Path(words.__file__)), "engine/crash_notes/words.py"),
        ("/srv/anna/.venv/lib/python3.11/site-packages/torch/nn.py", "torch/nn.py"),
        (r"C:\Users\anna\env\Lib\site-packages\torch\nn.py", "torch/nn.py"),
        ("/srv/engine/anna/notes.py", "notes.py"),
        ("<string>", "<string>"),
    ],
)
def test_a_place_in_the_code_names_no_folder_of_the_person(file, known):
    assert words.place(file) == known


def test_what_faulthandler_writes_is_told_without_its_folders():
    text = (
        "Fatal Python error: Segmentation fault\n\nCurrent thread 0x00007f (most recent call "
        'first):\n  File "/srv/anna/site-packages/torch/nn.py", line 7 in step\n'
        "Extension modules: /srv/anna/x.so\n"
    )
    assert words.fatal(text) == [
        "  Segmentation fault",
        "  a thread, innermost first:",
        "    torch/nn.py:7 in step",
    ]
