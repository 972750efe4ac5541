"""The view of the last turns' times."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.status.latency import KEPT, STAGES, TurnTimes, percentile
from engine.api import Ending, TurnEnded, TurnMetrics
from tests.app.test_window import CTRL, key, tell
from tests.fakes_engine import spoken_turn


@pytest.fixture
def view(window):
    tell(window, *spoken_turn(1, "a", "b"))
    return window.shelf.status.show_times()


def test_it_opens_by_key_and_by_the_line_under_the_parts(window):
    key(window, Qt.Key.Key_T, CTRL)
    first = window.shelf.status.show_times()
    assert first.isVisible()
    first.close()
    QTest.mouseClick(window.shelf.status.last_turn, Qt.MouseButton.LeftButton)
    assert first.isVisible()


def test_it_follows_the_turns_while_it_is_open_and_can_be_copied_as_text(window, view):
    assert [view.cell(row, 0) for row in range(6)] == ["120", "180", "190", "192", "240", "310"]
    before = view.bars.sizeHint().height()
    tell(window, *spoken_turn(2, "a", "b"))
    assert view.bars.sizeHint().height() == 2 * before
    assert view.bars.accessibleDescription() == "turn 2: 0.31 seconds; turn 1: 0.31 seconds"
    view.copy.click()
    assert "first sound heard\t310\t310\t310" in QApplication.clipboard().text()


def ended(turn: int, heard_ms: float | None, *, transcript_ms: float | None = None) -> TurnEnded:
    metrics = TurnMetrics(transcript_ms=transcript_ms, first_token_ms=0.0, heard_ms=heard_ms)
    return TurnEnded(turn, Ending.COMPLETE, "a", "b", "b", "b", metrics)


def told(*events) -> TurnTimes:
    times = TurnTimes()
    for event in events:
        times.on_event(event)
    return times


@pytest.mark.parametrize(
    ("values", "percent", "expected"),
    [([7], 95, 7), ([1, 2], 50, 1), (range(1, 101), 95, 95), ([3, 1, 2], 100, 3), ([3, 1], 0, 1)],
)
def test_a_percentile_is_a_value_that_was_measured(values, percent, expected):
    assert percentile(list(values), percent) == expected


def test_a_stage_is_summed_up_over_the_turns_in_which_it_happened():
    times = told(ended(1, 300.0, transcript_ms=100.0), ended(2, 500.0), ended(3, 900.0))
    summary = dict(zip((stage.field for stage in STAGES), times.summaries(), strict=True))
    heard, transcript = summary["heard_ms"], summary["transcript_ms"]
    assert (heard.last_ms, heard.median_ms, heard.high_ms) == (900.0, 500.0, 900.0)
    assert (transcript.last_ms, transcript.median_ms) == (None, 100.0)
    assert summary["first_token_ms"].median_ms == 0.0  # ready before the end of speech
    assert summary["end_ms"].median_ms is None


def test_only_the_last_turns_are_kept():
    times = told(*(ended(turn, 100.0) for turn in range(KEPT + 10)))
    assert [turn.turn for turn in times.turns] == list(range(10, KEPT + 10))
