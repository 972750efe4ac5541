"""What a stage says of itself while it runs, and when it is done."""

from dataclasses import replace
from pathlib import Path

import pytest

from engine.errors import InvalidInput
from engine.training import run as runs
from engine.training.recipe import Recipe
from engine.training.run import Progress, Run


def test_the_time_left_counts_from_where_a_stopped_stage_goes_on(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    now = [0.0]
    monkeypatch.setattr(runs.time, "monotonic", lambda: now[0])
    progress = Progress("voice", 100, start=40)
    now[0] = 60.0
    progress.report(50)
    assert capsys.readouterr().err == "voice  50.0% 60 s 5 min left \n"


def test_a_stage_is_done_while_its_recipe_and_inputs_hold(tiny: Recipe, tmp_path: Path) -> None:
    run = Run(tiny, tmp_path)
    run.finish("corpus", {})
    run.finish("codec", run.require("corpus"))
    run.finish("voice", {})
    wider = Run(replace(tiny, voice=replace(tiny.voice, width=128)), tmp_path)
    assert run.is_done("codec")
    assert run.is_done("voice")
    assert wider.is_done("codec")
    assert not wider.is_done("voice")
    assert not Run(replace(tiny, seed=8), tmp_path).is_done("corpus")
    run.finish("corpus", {}, hours=2.0)  # another corpus
    assert run.is_done("corpus")
    assert not run.is_done("codec")


def test_a_stage_asks_for_the_one_before_it(tiny: Recipe, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="'corpus' has not been finished"):
        Run(tiny, tmp_path).require("corpus")
