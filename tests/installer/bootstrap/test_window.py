"""The small window of an installation: shows what it reads, can be cancelled, tells what failed."""

import json
import os
import subprocess
import sys

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QProgressBar, QPushButton

from installer.bootstrap import progress, window


def texts(shown: window.Window) -> list[str]:
    return [label.text() for label in shown.findChildren(QLabel) if label.isVisibleTo(shown)]


def test_it_shows_how_far_and_what_and_a_failure_stays_to_be_read(qtbot):
    shown = window.Window()
    qtbot.addWidget(shown)
    shown.show()
    for nonsense in ({}, {"part": "x"}, {"title": None, "detail": 7}):
        shown.show_progress(nonsense)
    shown.show_progress(json.loads(progress.as_json(0.5, "Getting torch", "Downloaded x")))
    assert texts(shown) == ["Getting torch", "Downloaded x"]
    assert shown.findChild(QProgressBar).value() == 500
    shown.show_progress({"part": 0.5, "title": "The disk is full.", "detail": progress.FAILED})
    assert texts(shown) == ["The disk is full."]
    assert shown.findChild(QPushButton).text() == "Close"
    formats = {label.textFormat() for label in shown.findChildren(QLabel)}
    assert formats == {Qt.TextFormat.PlainText}  # nothing from outside is taken for markup


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


@pytest.mark.parametrize("cancelled", [True, False], ids=["cancelled", "crashed"])
def test_an_installation_notices_a_window_that_was_cancelled_and_outlives_a_crash(*, cancelled):
    running = progress.Progress()
    code = f"import os; os._exit({progress.CANCELLED if cancelled else 9})"
    running.open_window([sys.executable, "-c", code], dict(os.environ))
    running.window_gone.wait(20)
    if cancelled:
        with pytest.raises(progress.Cancelled):
            running.check()
    else:
        running.detail("goes on")
        running.check()
    running.close_window()
