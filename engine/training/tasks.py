"""Long work as tasks in several processes.

A task's result may be saved in a file, so that nothing is measured twice. The file is named after
the task and a hash of everything that the result depends on; a changed input gives another file.
Invariant: such a file is either complete or absent, and a task whose file exists is not run again.
"""

import os
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import active_children, get_context
from pathlib import Path
from typing import Any, Final

from engine.errors import ModelError
from engine.training.run import StageProgress, fingerprint, read_json, write_json

SAFE_PATH: Final = "PYTHONSAFEPATH"  # a child imports nothing from the current folder
Result = dict[str, Any]  # Any: what JSON can hold


@dataclass(frozen=True)
class Task:
    """A unit of work: `do(*arguments)`, both picklable. The result depends on the arguments and on
    `depends`, the hashes of the files that the task reads.
    """

    name: str  # of letters that a file name may have
    do: Callable[..., Result]
    arguments: tuple[Any, ...]
    depends: tuple[str, ...] = ()

    def file(self, folder: Path) -> Path:
        """Return the file of the task's result."""
        key = fingerprint(self.do.__qualname__, self.arguments, self.depends)
        return folder / f"{self.name.replace('/', ' ')} {key[:8]}.json"


def do_tasks(stage: str, folder: Path, tasks: Sequence[Task], workers: int) -> None:
    """Run the tasks that have no result in the folder, and save each result there."""
    left = [task for task in tasks if not task.file(folder).is_file()]
    for task, found in run_tasks(stage, left, workers):
        write_json(task.file(folder), found)


def result(task: Task, folder: Path) -> Result | None:
    """The result of a task; None when it has not been run."""
    file = task.file(folder)
    return read_json(file) if file.is_file() else None


def run_tasks(stage: str, tasks: Sequence[Task], workers: int) -> Iterator[tuple[Task, Result]]:
    """Run tasks in `workers` processes (1 = in this one). Yield each with its result as soon as it
    is ready. ModelError when a process dies.
    """
    progress = StageProgress(stage, len(tasks))
    ready = _in_processes(tasks, workers) if workers > 1 and tasks else _one_by_one(tasks)
    for count, (task, found) in enumerate(ready, start=1):
        yield task, found
        progress.report(count, task.name)


def _one_by_one(tasks: Sequence[Task]) -> Iterator[tuple[Task, Result]]:
    for task in tasks:
        yield task, task.do(*task.arguments)


def _in_processes(tasks: Sequence[Task], workers: int) -> Iterator[tuple[Task, Result]]:
    with _processes(min(workers, len(tasks))) as executor:
        waiting = {executor.submit(task.do, *task.arguments): task for task in tasks}
        for future in as_completed(waiting):
            task = waiting[future]
            try:
                yield task, future.result()
            except BrokenProcessPool as error:
                message = f"A process ended unexpectedly, perhaps while doing '{task.name}'."
                hint = "Was there too little memory? --workers 1 needs least, and goes on."
                raise ModelError(message, hint=hint) from error


@contextmanager
def _processes(workers: int) -> Iterator[Executor]:
    """Yield an executor of worker processes, which have ended afterwards, whatever happened."""
    others = set(active_children())
    before = os.environ.get(SAFE_PATH)
    os.environ[SAFE_PATH] = "1"
    executor = ProcessPoolExecutor(workers, get_context("spawn"), initializer=_prepare_worker)
    try:
        yield executor
    except BaseException:  # do not wait: a task may take minutes
        executor.shutdown(wait=False, cancel_futures=True)
        for process in set(active_children()) - others:
            process.terminate()
        raise
    finally:
        executor.shutdown()
        os.environ.pop(SAFE_PATH)
        if before is not None:
            os.environ[SAFE_PATH] = before


def _prepare_worker() -> None:
    """Prepare a worker process: ignore Ctrl-C, because it reaches all processes of a terminal and
    only the first one handles it, and use one thread.
    """
    import torch  # here, not above: most importers of this module need no torch

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    torch.set_num_threads(1)
