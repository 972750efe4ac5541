"""The small window of an installation: shows what it reads, can be cancelled, tells what failed."""

import json
import os
import subprocess
import sys

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QProgressBar, QPushButton
from pytestqt.qtbot import QtBot

from installer.bootstrap import progress, window


@pytest.fixture
def shown(qtbot: QtBot) -> window.Window:
    made = window.Window()
    qtbot.addWidget(made)
    made.show()
    return made


def texts(shown: window.Window) -> list[str]:
    return [label.text() for label in shown.findChildren(QLabel) if label.isVisibleTo(shown)]


def test_it_shows_how_far_and_what(shown):
    shown.show_progress(json.loads(progress.as_json(0.5, "Getting torch", "Downloaded x")))
    assert texts(shown) == ["Getting torch", "Downloaded x"]
    assert shown.findChild(QProgressBar).value() == 500


def test_what_came_from_outside_is_never_taken_for_markup(shown):
    assert {label.textFormat() for label in shown.findChildren(QLabel)} == {Qt.TextFormat.PlainText}


@pytest.mark.parametrize("said", [{}, {"part": "x"}, {"title": None, "detail": 7}])
def test_nonsense_is_borne(said, shown):
    shown.show_progress(said)


def test_a_failure_stays_to_be_read(shown):
    shown.show_progress({"part": 0.5, "title": "The disk is full.", "detail": progress.FAILED})
    assert texts(shown) == ["The disk is full."]
    assert shown.findChild(QPushButton).text() == "Close"


def test_it_ends_with_its_input_and_needs_no_package_of_ours(tmp_path):
    env = {**os.environ, "QT_QPA_PLATFORM": "offscreen", "PYTHONPATH": ""}
    done = subprocess.run(
        [sys.executable, window.__file__],
        input=progress.as_json(0.1, "x", "y") + "not json\n",
        text=True,
        cwd=tmp_path,
        env=env,
        timeout=60,
    )
    assert done.returncode == 0
    assert window.CANCELLED == progress.CANCELLED


def test_an_installation_notices_that_its_window_was_cancelled():
    ended = progress.Progress(progress.Json())
    code = f"import sys; sys.stdin.readline(); sys.exit({progress.CANCELLED})"
    ended.open_window([sys.executable, "-c", code], dict(os.environ))
    ended.window_gone.wait(20)
    with pytest.raises(progress.Cancelled):
        ended.check()
    ended.close_window()


def test_an_installation_goes_on_when_its_window_crashes():
    ended = progress.Progress(progress.Json())
    ended.open_window([sys.executable, "-c", "import os; os._exit(9)"], dict(os.environ))
    ended.window_gone.wait(20)
    for number in range(3):
        ended.detail(f"line {number}")
    ended.check()
    ended.close_window()
