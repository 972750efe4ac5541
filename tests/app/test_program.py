"""How the program begins, and that a window which is closed is gone."""

import gc
import io
import sys
import wave
import weakref
from pathlib import Path

import pytest
from PySide6.QtCore import QtMsgType, qInstallMessageHandler, qWarning

from app import installed
from app.__main__ import mend_streams
from app.program import CrashWatch
from app.window import Window
from engine import api
from engine.api import CrashNotes, EngineError, SayOptions, Settings
from tests.app.everyone.pages import PAGES
from tests.app.leftovers import clear_away


def test_a_complaint_of_qt_is_noted_without_its_words_and_passed_on(tmp_path):
    heard: list[tuple[QtMsgType, str]] = []
    notes = CrashNotes(tmp_path)
    before = qInstallMessageHandler(lambda kind, context, words: heard.append((kind, words)))
    try:
        watch = CrashWatch(notes)
        assert watch.begin() == ""
        qWarning("cannot open /srv/petunia")
        watch.end()
        qWarning("after the end")
    finally:
        qInstallMessageHandler(before)
    assert [words for _, words in heard] == ["cannot open /srv/petunia", "after the end"]
    (line,) = notes.log()
    assert line.endswith("WARNING app.default: severity=QtWarningMsg")


def test_a_program_without_a_terminal_can_write_all_the_same(monkeypatch):
    for name in ("stdout", "stderr"):
        monkeypatch.setattr(sys, name, None)
    mend_streams()
    for stream in (sys.stdout, sys.stderr):
        with stream:
            stream.write("→")
            assert stream.isatty() is False


@pytest.mark.parametrize(("system", "written"), [("linux", b"? \xe4"), ("win32", "→ ä".encode())])
def test_a_letter_that_cannot_be_written_does_no_harm(monkeypatch, system, written):
    content = io.BytesIO()
    monkeypatch.setattr(sys, "platform", system)
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(content, encoding="cp1252"))
    mend_streams()
    sys.stdout.write("→ ä")
    sys.stdout.flush()
    assert content.getvalue() == written
    sys.stdout.detach()


def write(path: Path, samples: bytes) -> None:
    with wave.open(str(path), "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(2)
        sound.setframerate(24_000)
        sound.writeframes(samples)


@pytest.mark.slow
def test_this_program_works(tmp_path, capsys):
    assert installed.speaks(tmp_path / "said.wav") == ""


@pytest.mark.parametrize(
    ("samples", "fault"),
    [(b"\0\0" * 24_000, "cannot be heard"), (b"\0\x40" * 100, "cannot be heard")],
)
def test_silence_and_a_click_are_no_speech(samples, fault, tmp_path, monkeypatch):
    def say(text: str, settings: Settings, options: SayOptions) -> None:
        assert options.out is not None
        write(options.out, samples)

    monkeypatch.setattr(api, "say", say)
    assert fault in installed.speaks(tmp_path / "said.wav")


def test_what_the_engine_says_of_a_fault_is_passed_on(qapp, tmp_path, monkeypatch, capsys):
    assert installed.paints() == ""

    def say(text: str, settings: Settings, options: SayOptions) -> None:
        raise EngineError("The voice is missing.")

    monkeypatch.setattr(api, "say", say)
    monkeypatch.setattr(installed, "paints", lambda: "")
    assert installed.main([str(tmp_path)]) == 1
    assert capsys.readouterr().out == "The voice is missing.\n"


def test_a_closed_window_is_gone_with_all_that_was_opened(theme, settings, posted):
    window = Window(settings, posted.append, theme)
    window.show()
    for open_page in PAGES.values():
        open_page(window)
    known = weakref.ref(window)
    window.hide()
    window.deleteLater()
    del window
    assert clear_away() == []
    gc.collect()
    assert known() is None
