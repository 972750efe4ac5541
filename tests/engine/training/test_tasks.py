"""Parts: nothing is done twice, nothing done is lost, and a dead process is named."""

import os
import signal
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from engine.errors import Cancelled, InvalidInput, ModelError
from engine.training import run as runs
from engine.training.run import Progress, Run
from engine.training.tasks import Place, Task, do_tasks, result


def counted(folder: str, number: int) -> dict[str, Any]:
    """Leaves a mark for every time it is done."""
    with (Path(folder) / f"marks-{number}").open("a") as marks:
        marks.write("x")
    return {"square": number * number}


def stopping(folder: str, number: int) -> dict[str, Any]:
    """The person presses Ctrl-C while it is done."""
    found = counted(folder, number)
    signal.raise_signal(signal.SIGINT)
    return found


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


def test_another_input_is_another_task_wherever_a_file_lies(tmp_path):
    do_tasks("test", tmp_path, [Task("square", counted, (Place(tmp_path), 2), ("pack 1",))], 1)
    moved = Place(tmp_path / "elsewhere")
    assert result(Task("square", counted, (moved, 2), ("pack 1",)), tmp_path) == {"square": 4}
    assert result(Task("square", counted, (moved, 2), ("pack 2",)), tmp_path) is None
    assert result(Task("square", counted, (moved, 3), ("pack 1",)), tmp_path) is None


def test_what_was_done_before_a_stop_stays(tmp_path):
    tasks = [Task("stop", stopping, (str(tmp_path), 1)), *squares(tmp_path, 2)]
    with pytest.raises(Cancelled):
        do_tasks("test", tmp_path, tasks, 1)
    assert result(tasks[0], tmp_path) == {"square": 1}
    assert result(tasks[1], tmp_path) is None


@pytest.mark.long
def test_processes_find_what_one_alone_finds(tmp_path):
    tasks = squares(tmp_path, 1, 2, 3)
    do_tasks("test", tmp_path, tasks, 2)
    assert [result(task, tmp_path) for task in tasks] == [{"square": n * n} for n in (1, 2, 3)]


@pytest.mark.slow
def test_a_process_that_dies_is_named_and_not_waited_for(tmp_path):
    with pytest.raises(ModelError, match="ended unexpectedly"):
        do_tasks("test", tmp_path, [Task("death", dying, ())], 1, fresh=True)


def test_a_cluster_of_dask_does_what_the_processes_do(tmp_path):
    distributed = pytest.importorskip("distributed")
    tasks = squares(tmp_path, 2, 3)
    cluster = distributed.LocalCluster(
        "127.0.0.1:0", n_workers=1, processes=False, dashboard_address=None
    )
    with cluster:
        address = cluster.scheduler_address
        do_tasks("squares", tmp_path, tasks, workers=1, scheduler=address)
    assert [result(task, tmp_path) for task in tasks] == [{"square": 4}, {"square": 9}]
    assert marks(tmp_path) == 2


# ---------------------------------------------------------------------------------------- runs


def test_the_time_left_counts_from_where_a_stopped_stage_goes_on(monkeypatch, capsys):
    now = [0.0]
    monkeypatch.setattr(runs.time, "monotonic", lambda: now[0])
    progress = Progress("voice", 100, start=40)
    now[0] = 60.0
    progress.report(50)
    assert capsys.readouterr().err == "voice  50.0% 60 s 5 min left \n"


def test_a_stage_is_done_while_its_recipe_and_inputs_hold(tiny, tmp_path):
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


def test_a_stage_asks_for_the_one_before_it(tiny, tmp_path):
    with pytest.raises(InvalidInput, match="'corpus' has not been finished"):
        Run(tiny, tmp_path).require("corpus")
