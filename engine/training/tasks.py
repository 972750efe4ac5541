"""Long work as tasks in several processes. Each task's result is a file, so nothing is computed
twice.

The file is named after the task and a hash of everything that the result depends on. A changed
input gives another file; results may be copied from one run's folder to another's. Invariant: a
task's file is either complete or absent, and a task whose file exists is not run again.
"""

import os
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import active_children, get_context
from pathlib import Path
from typing import Any, Final

from engine.errors import ModelError
from engine.training.run import (
    StageProgress,
    fingerprint,
    read_json,
    stop_signal,
    stopped,
    write_json,
)

LOOK_SECONDS: Final = 0.5  # between two checks for a request to stop
SAFE_PATH: Final = "PYTHONSAFEPATH"  # a child imports nothing from the current folder
Result = dict[str, Any]  # Any: what JSON can hold


class Place(str):
    """A path among a task's arguments. A result depends on the content of the file, not on its
    path, so all paths have the same repr.
    """

    __slots__ = ()

    def __repr__(self) -> str:
        return "Place"


@dataclass(frozen=True)
class Task:
    """A unit of work: `do(*arguments)`, both picklable. The result depends on the arguments and on
    `depends`, the hashes of the files that the task reads (a Place among the arguments).
    """

    name: str  # of letters that a file name may have
    do: Callable[..., Result]
    arguments: tuple[Any, ...]
    depends: tuple[str, ...] = ()

    def file(self, folder: Path) -> Path:
        """Return the file of the task's result."""
        key = fingerprint(self.do.__qualname__, self.arguments, self.depends)
        return folder / f"{self.name.replace('/', ' ')} {key[:8]}.json"


def do_tasks(
    stage: str,
    folder: Path,
    tasks: Sequence[Task],
    workers: int,
    *,
    fresh: bool = False,
) -> None:
    """Run the unfinished tasks, in order, in `workers` processes (1 = in this one).

    `fresh`: even a single worker is a process of its own, which holds nothing else and can be ended
    during a task. Raises Cancelled on Ctrl-C; results of finished tasks stay.
    """
    left = [task for task in tasks if not task.file(folder).is_file()]
    progress = StageProgress(stage, len(left))
    if not left:
        return
    with stop_signal() as is_asked_to_stop:
        if workers > 1 or fresh:
            with _processes(min(workers, len(left))) as executor:
                _run_in(executor, folder, left, progress, is_asked_to_stop)
            return
        for count, task in enumerate(left, start=1):
            if is_asked_to_stop():
                raise stopped()
            write_json(task.file(folder), task.do(*task.arguments))
            progress.report(count, task.name)


def result(task: Task, folder: Path) -> Result | None:
    """The result of a task; None when it has not been run."""
    file = task.file(folder)
    return read_json(file) if file.is_file() else None


def _run_in(
    executor: Executor,
    folder: Path,
    tasks: Sequence[Task],
    progress: StageProgress,
    is_asked_to_stop: Callable[[], bool],
) -> None:
    """Run tasks in an executor and write each result as soon as it is ready."""
    waiting: dict[Future[Result], Task] = {
        executor.submit(task.do, *task.arguments): task for task in tasks
    }
    total = len(waiting)
    while waiting:
        ready, _ = wait(waiting, LOOK_SECONDS, FIRST_COMPLETED)
        if is_asked_to_stop():
            raise stopped()
        for future in ready:
            task = waiting.pop(future)
            write_json(task.file(folder), _outcome(future, task))
            progress.report(total - len(waiting), task.name)


def _outcome(future: Future[Result], task: Task) -> Result:
    try:
        return future.result()
    except BrokenProcessPool as error:
        raise ModelError(
            "A process ended unexpectedly, perhaps while doing '{name}'.",
            hint="Was there too little memory? The same command goes on; --workers 1 needs least.",
            name=task.name,
        ) from error


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
