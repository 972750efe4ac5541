"""Commands of Rubato's own in processes of their own: what they print, and how they end."""

import os
import sys
from typing import Any

import pytest

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
