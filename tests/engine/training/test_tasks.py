"""Parts: nothing is done twice, nothing done is lost, and a dead process is named."""

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from engine.errors import InvalidInput, ModelError
from engine.training.__main__ import main
from engine.training.run import Run, Task, do_tasks, result
from tests.engine.training.conftest import STAGES, TINY


def counted(folder: str, number: int) -> dict[str, Any]:
    with (Path(folder) / f"marks-{number}").open("a") as marks:
        marks.write("x")
    return {"square": number * number}


def stopping() -> dict[str, Any]:
    raise KeyboardInterrupt


def dying() -> dict[str, Any]:
    os._exit(3)


def marks(folder: Path) -> int:
    return sum(len(file.read_text()) for file in folder.glob("marks-*"))


def squares(folder: Path, *numbers: int) -> list[Task]:
    return [Task(f"square/{number}", counted, (str(folder), number)) for number in numbers]


def test_a_task_that_was_done_is_not_done_again(tmp_path):
    tasks = squares(tmp_path, 2, 3)
    do_tasks("test", tmp_path, tasks[:1], 1)
    assert result(tasks[1], tmp_path) is None
    do_tasks("test", tmp_path, tasks, 1)
    assert marks(tmp_path) == 2
    assert result(tasks[1], tmp_path) == {"square": 9}


def test_another_input_is_another_task(tmp_path):
    do_tasks("test", tmp_path, [Task("square", counted, (str(tmp_path), 2), ("pack 1",))], 1)
    assert result(Task("square", counted, (str(tmp_path), 2), ("pack 1",)), tmp_path)
    assert result(Task("square", counted, (str(tmp_path), 2), ("pack 2",)), tmp_path) is None
    assert result(Task("square", counted, (str(tmp_path), 3), ("pack 1",)), tmp_path) is None


def test_what_was_done_before_a_stop_stays(tmp_path):
    tasks = [*squares(tmp_path, 1), Task("stop", stopping, ()), *squares(tmp_path, 2)]
    with pytest.raises(KeyboardInterrupt):
        do_tasks("test", tmp_path, tasks, 1)
    assert result(tasks[0], tmp_path) == {"square": 1}
    assert result(tasks[2], tmp_path) is None


@pytest.mark.long
def test_processes_find_what_one_alone_finds(tmp_path):
    tasks = squares(tmp_path, 1, 2, 3)
    do_tasks("test", tmp_path, tasks, 2)
    assert [result(task, tmp_path) for task in tasks] == [{"square": n * n} for n in (1, 2, 3)]


@pytest.mark.slow
def test_a_process_that_dies_is_named_and_imports_nothing_from_the_current_folder(
    tmp_path, monkeypatch
):
    (tmp_path / "signal.py").write_text("open('executed', 'w').close()\n")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ModelError, match="ended unexpectedly"):
        do_tasks("test", tmp_path, [Task(name, dying, ()) for name in "ab"], 2)
    assert not (tmp_path / "executed").exists()
    assert "PYTHONSAFEPATH" not in os.environ


# ---------------------------------------------------------------------------------------- runs


def test_a_stage_is_done_while_its_recipe_and_inputs_hold(tiny, tmp_path):
    run = Run(tiny, tmp_path)
    for stage in ("corpus", "codec", "speaker", "encode", "voice"):
        run.finish(stage)
    wider = Run(replace(tiny, voice=replace(tiny.voice, dropout=0.2)), tmp_path)
    assert run.is_done("codec")
    assert run.is_done("voice")
    assert wider.is_done("codec")
    assert not wider.is_done("voice")
    assert not Run(replace(tiny, seed=8), tmp_path).is_done("corpus")
    run.finish("corpus", hours=2.0)  # another corpus
    assert run.is_done("corpus")
    assert not run.is_done("codec")
    assert not run.is_done("voice")


def test_a_stage_that_wrote_other_files_asks_for_the_later_ones_again(tiny, tmp_path):
    run = Run(tiny, tmp_path)
    for stage in ("corpus", "codec"):
        run.finish(stage)
    (run.stage("corpus") / "0000.flac").write_bytes(b"sound")
    assert run.is_done("codec")
    run.finish("corpus")
    assert not run.is_done("codec")


def test_a_stage_whose_files_were_deleted_is_not_done(tiny, tmp_path):
    run = Run(tiny, tmp_path)
    weights = run.stage("codec") / "codec.safetensors"
    weights.write_bytes(b"weights")
    run.finish("corpus")
    run.finish("codec")
    assert run.is_done("codec")
    weights.unlink()
    assert not run.is_done("codec")


def test_another_sentence_on_the_card_asks_for_no_stage_again(tiny, tmp_path):
    for stage in STAGES:
        Run(tiny, tmp_path).finish(stage)
    card = replace(tiny.export, reached=("It ends.",), limits=("It is small.",))
    assert Run(replace(tiny, export=card), tmp_path).is_done("export")
    warmer = replace(tiny.generation, temperature=0.9)
    assert not Run(replace(tiny, generation=warmer), tmp_path).is_done("export")


def test_a_stage_that_is_asked_for_again_begins_anew(tiny, tmp_path, monkeypatch):
    run, seen = Run(tiny, tmp_path), list[bool]()
    checkpoint = run.stage("voice") / "checkpoint.pt"
    checkpoint.write_bytes(b"weights")
    for stage in ("corpus", "codec", "speaker", "encode", "voice"):
        run.finish(stage)
    monkeypatch.setattr(
        "engine.training.voxtream.losses.VoxtreamLearner",
        lambda _: seen.append(checkpoint.exists()),
    )
    for again in ([], ["--again"]):
        assert main(["voice", str(TINY), "--work", str(tmp_path), *again]) == 0
    assert seen == [False]


def test_a_stage_asks_for_the_one_before_it(tiny, tmp_path):
    with pytest.raises(InvalidInput, match="'corpus' has not been finished"):
        Run(tiny, tmp_path).require("corpus")
