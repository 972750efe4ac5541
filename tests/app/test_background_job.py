"""Commands of Rubato's own in processes of their own, and the page about the program."""

import os
import sys
from collections.abc import Callable, Iterator
from typing import Any

import psutil
import pytest
from PySide6.QtGui import QGuiApplication

from app import background_job
from app.about import AboutPage
from app.background_job import BackgroundJob


def job(qapp, *command: str) -> tuple[BackgroundJob, list[Any]]:
    running = BackgroundJob(qapp, command or [sys.executable, "-c", "print('{}')"])
    told: list[Any] = []
    running.ended.connect(told.append)
    return running, told


@pytest.mark.parametrize(
    ("script", "document"),
    [
        ("import sys; print('{\"said\": ' + repr(len(sys.argv)) + '}')", {"said": 3}),
        ("print('no JSON')", None),
        ("print('[1]')", None),  # no object, as every command prints
        # doctor does so where it found a fault
        ("import sys; print('{\"a\": 1}'); sys.exit(1)", {"a": 1}),
    ],
)
def test_what_was_printed_is_told_once(qtbot, qapp, script, document):
    running, told = job(qapp, sys.executable, "-c", script)
    with qtbot.waitSignal(running.ended, timeout=20_000):
        running.start("doctor", "--json")
    assert told == [document]
    assert not running.is_under_way


def test_a_program_that_is_not_there_is_told_and_a_second_start_while_it_runs_is_none(qtbot, qapp):
    missing, told = job(qapp, "/no/such/program")
    missing.start("doctor")
    qtbot.waitUntil(lambda: told == [None])
    running, told = job(qapp)
    with qtbot.waitSignal(running.ended, timeout=20_000):
        running.start("one")
        running.start("two")
    assert told == [{}]


@pytest.mark.skipif(sys.platform == "win32", reason="priorities are classes there")
def test_it_gives_way_to_what_listens_and_speaks(qtbot, qapp):
    running, told = job(
        qapp,
        *(sys.executable, "-c"),
        "import os, time\nwhile os.nice(0) < 10: time.sleep(0.01)\n"
        "print('{\"nice\": %d}' % os.nice(0))",
    )
    with qtbot.waitSignal(running.ended, timeout=20_000):
        running.start()
    assert told == [{"nice": max(10, os.nice(0))}]


# Says which process it is; "stubborn" ends for nothing but a kill.
STUBBORN = """
import json, os, signal, sys, time
if sys.argv[1] == "stubborn":
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    print(json.dumps({"pid": os.getpid()}), file=sys.stderr, flush=True)
    time.sleep(600)
print(json.dumps({"ran": sys.argv[1]}))
"""


def is_alive(pid: int) -> bool:
    return psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE


@pytest.fixture
def stubborn(qtbot, qapp, monkeypatch: pytest.MonkeyPatch) -> tuple[BackgroundJob, list[Any], int]:
    """A job that runs, the documents it reports, and the process that only a kill ends."""
    monkeypatch.setattr(background_job, "_END_MS", 300)
    running, told = job(qapp, sys.executable, "-c", STUBBORN)
    with qtbot.waitSignal(running.reported, timeout=20_000) as said:
        running.start("stubborn")
    return running, told, said.args[0]["pid"]


def test_ending_waits_for_nothing_and_a_new_start_waits_for_the_process_before(qtbot, stubborn):
    running, told, pid = stubborn
    running.end()
    assert is_alive(pid)
    assert not running.is_under_way
    running.start("one")
    running.end()
    running.start("two")
    assert running.is_under_way
    qtbot.waitUntil(lambda: told != [], timeout=20_000)
    assert told == [{"ran": "two"}]
    assert not is_alive(pid)


def test_a_process_whose_page_is_gone_ends(qtbot, stubborn):
    running, told, pid = stubborn
    running.deleteLater()
    qtbot.waitUntil(lambda: not is_alive(pid), timeout=20_000)
    assert told == []


def test_the_end_of_the_program_leaves_no_process(stubborn):
    background_job.finish_all()
    assert not is_alive(stubborn[2])


ANSWERS = "import sys, json; print(json.dumps({'findings': []}))"


@pytest.fixture
def page(qtbot, window) -> Iterator[Callable[[str], AboutPage]]:
    opened: list[AboutPage] = []

    def open_page(script: str = ANSWERS) -> AboutPage:
        made = AboutPage(window, [sys.executable, "-c", script])
        opened.append(made)
        made.open_beside()
        return made

    yield open_page
    for each in opened:
        each.close()


@pytest.mark.parametrize("works", [True, False])
def test_diagnostics_are_copied_when_asked_for_and_a_failure_is_said(qtbot, page, works):
    QGuiApplication.clipboard().setText("before")
    about = page(ANSWERS if works else "raise SystemExit(3)")
    about.copy.click()
    assert not about.copy.isEnabled()
    qtbot.waitUntil(about.copy.isEnabled, timeout=20_000)
    copied = QGuiApplication.clipboard().text()
    assert copied == ('{\n "findings": []\n}' if works else "before")
    assert ("Copied." if works else "rubato doctor") in about.copied.text()


def test_the_page_can_be_closed_while_it_collects(qtbot, window):
    entry = next(each for each in window.header.more.menu().actions() if "About" in each.text())
    entry.trigger()
    about = window.findChild(AboutPage)
    about.copy.click()
    about.close()
    qtbot.waitUntil(lambda: window.findChild(AboutPage) is None)


def test_the_launcher_is_started_which_outlives_updates(tmp_path, monkeypatch):
    launcher = tmp_path / "rubato"
    launcher.touch()
    monkeypatch.setenv("RUBATO_LAUNCHER", str(launcher))
    assert background_job.own_command() == [str(launcher)]
    launcher.unlink()
    assert background_job.own_command() != [str(launcher)]
