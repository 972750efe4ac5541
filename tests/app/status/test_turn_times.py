"""Medians, percentiles and the table that is copied."""

import pytest

from app.status.latency import KEPT, STAGES, TurnTimes, percentile
from engine.api import Ending, Heard, TurnEnded, TurnMetrics


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


def test_a_turn_that_was_not_spoken_has_no_bar():
    assert not told(ended(1, None), Heard(1, "a", 1.0, "keyboard")).turns


def test_only_the_last_turns_are_kept():
    times = told(*(ended(turn, 100.0) for turn in range(KEPT + 10)))
    assert [turn.turn for turn in times.turns] == list(range(10, KEPT + 10))


def test_the_text_is_a_table_of_stages_and_one_of_turns():
    lines = told(ended(4, 300.4, transcript_ms=100.0)).as_text().splitlines()
    assert lines[0].split("\t") == ["stage (ms)", "last", "median", "95 %"]
    assert lines[len(STAGES)].split("\t") == ["first sound heard", "300", "300", "300"]
    assert lines[-1].split("\t") == ["turn 4", "–", "100", "0", "–", "–", "300"]  # noqa: RUF001
