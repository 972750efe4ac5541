"""What a stage says of itself while it runs."""

import pytest

from engine.training import run
from engine.training.run import Progress


def test_the_time_left_counts_from_where_a_stopped_stage_goes_on(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    now = [0.0]
    monkeypatch.setattr(run.time, "monotonic", lambda: now[0])
    progress = Progress("voice", 100, start=40)
    now[0] = 60.0
    progress.report(50)
    assert capsys.readouterr().err == "voice  50.0% 60 s 5 min left \n"
