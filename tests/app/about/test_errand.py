"""Commands of Rubato's own in processes of their own: what they print, and how they end."""

import sys
from typing import Any

import pytest
from PySide6.QtCore import QObject

from app.about.errand import Errand


def errand(qapp, script: str, parent: QObject | None = None) -> tuple[Errand, list[Any]]:
    made = Errand(parent or qapp, [sys.executable, "-c", script])
    told: list[Any] = []
    made.ended.connect(told.append)
    return made, told


@pytest.mark.parametrize(
    ("script", "document"),
    [
        ("import sys; print('{\"said\": ' + repr(len(sys.argv)) + '}')", {"said": 3}),
        ("print('no JSON')", None),
        ("import sys; print('[1]'); sys.exit(1)", [1]),  # doctor does so where it found a fault
        ("import os; os.abort()", None),
    ],
)
def test_what_was_printed_is_told_once(qtbot, qapp, script: str, document: object):
    made, told = errand(qapp, script)
    with qtbot.waitSignal(made.ended, timeout=20_000):
        made.start("doctor", "--json")
    assert told == [document]
    assert not made.is_under_way


def test_a_program_that_is_not_there_is_told(qtbot, qapp):
    made = Errand(qapp, ["/no/such/program"])
    told: list[Any] = []
    made.ended.connect(told.append)
    made.start("doctor")
    qtbot.waitUntil(lambda: bool(told))
    assert told == [None]


def test_one_that_is_ended_says_nothing_and_is_gone(qtbot, qapp):
    made, told = errand(qapp, "import sys; sys.stdin.read(); import time; time.sleep(600)")
    made.start()
    qtbot.waitUntil(lambda: made.is_under_way)
    made.end()
    assert not made.is_under_way
    assert told == []


def test_a_second_start_while_it_runs_is_none(qtbot, qapp):
    made, told = errand(qapp, "print('{}')")
    with qtbot.waitSignal(made.ended, timeout=20_000):
        made.start("one")
        made.start("two")
    assert told == [{}]
