"""Failures that no terminal shows: where streams are None, as without a terminal on Windows."""

import sys

from installer.bootstrap import __main__ as bootstrapper
from installer.bootstrap import windows


def test_without_a_terminal_a_failure_is_shown_in_a_box(home, monkeypatch):
    shown: list[str] = []
    monkeypatch.setattr(windows, "show", shown.append)
    monkeypatch.setattr(sys, "stdout", None)
    monkeypatch.setattr(sys, "stderr", None)
    assert bootstrapper.main(["roll-back"]) == 1
    assert shown == ["There is no earlier version to go back to."]
    assert sys.stderr is not None
    sys.stderr.close()  # nothing of ours is left open


def test_in_a_terminal_no_box_opens(home, monkeypatch, capsys):
    shown: list[str] = []
    monkeypatch.setattr(windows, "show", shown.append)
    assert bootstrapper.main(["roll-back"]) == 1
    assert shown == []
    assert "no earlier version" in capsys.readouterr().err


def test_on_macos_nobody_reads_what_a_program_of_the_finder_says(monkeypatch):
    assert not windows.open_streams()
    monkeypatch.setattr(sys, "platform", "darwin")
    assert windows.open_streams()  # pytest reads it, so it is no terminal
