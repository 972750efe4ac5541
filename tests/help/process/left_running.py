"""Detection of threads, child processes and asyncio tasks that a test leaves running.

Those that end by themselves within PATIENCE_S do not count. An event loop cancels its tasks when it
closes, so tasks are noted at that moment: those of our own code should have ended before. A process
that a shared thread starts belongs to that thread.
"""

import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Final

import psutil
import pytest

PATIENCE_S: Final = 5.0
_CANCEL: Final[Any] = asyncio.runners._cancel_all_tasks  # type: ignore[attr-defined]
ROOT: Final = Path(__file__).parents[3]
_OWN: Final = tuple(f"{ROOT / name}/" for name in ("app", "engine", "installer", "tests"))
# Serve a process for as long as it lives: of multiprocessing, of tqdm.
_LIBRARIES: Final = ("resource_tracker", "tqdm_monitor")


@dataclass
class Running:
    """The threads and child processes that run now. `tasks`: asyncio tasks noted since."""

    threads: set[threading.Thread] = field(default_factory=lambda: set(threading.enumerate()))
    children: set[int] = field(default_factory=lambda: set(child_processes()))
    tasks: list[str] = field(default_factory=list)

    def renew(self) -> None:
        """Count everything that runs now as started before."""
        self.threads, self.children = set(threading.enumerate()), set(child_processes())

    def left(self, patience_s: float = PATIENCE_S) -> list[str]:
        """Describe everything that was started since and still runs."""
        give_up_at = time.monotonic() + patience_s
        while (found := self._found()) and time.monotonic() < give_up_at:
            time.sleep(0.02)
        return found + self.tasks

    def _found(self) -> list[str]:
        threads = [
            f"thread {thread.name}"
            for thread in set(threading.enumerate()) - self.threads
            if thread.name not in _LIBRARIES
            and not isinstance(thread, threading._DummyThread)  # of a library that calls Python
        ]
        shared = {thread.native_id for thread in self.threads - {threading.current_thread()}}
        named = (
            _named(pid)
            for pid, parent in child_processes().items()
            if pid not in self.children and parent not in shared
        )
        return threads + [f"process {name}" for name in named if name]


class SharedFixtures:
    """A plugin that lets fixtures of several tests be made when the first test requests them by
    name. It is a plugin because hooks of a conftest.py are not called for session-wide fixtures.
    """

    running: ClassVar[Running | None] = None  # of the test that is under way

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: pytest.FixtureDef[object]) -> Iterator[object]:
        try:
            return (yield)
        finally:
            if fixturedef.scope != "function" and self.running is not None:
                self.running.renew()


def child_processes() -> dict[int, int]:
    """Return the children of this process, each with the thread that started it (0 = unknown)."""
    try:  # a fiftieth of the time that psutil takes, which looks at all processes
        lists = {
            int(file.parent.name): file.read_text()
            for file in Path("/proc/self/task").glob("*/children")
        }
    except OSError:  # a thread ended meanwhile
        return child_processes()
    if lists:
        return {int(pid): thread for thread, each in lists.items() for pid in each.split()}
    return dict.fromkeys((child.pid for child in psutil.Process().children()), 0)


def _named(pid: int) -> str:
    """Return a process's command; empty if it has ended or belongs to a library."""
    try:
        process = psutil.Process(pid)
        name = " ".join(process.cmdline())
        if process.status() == psutil.STATUS_ZOMBIE or any(each in name for each in _LIBRARIES):
            return ""
        return f"{pid} {name[:200]}"
    except psutil.Error:
        return ""


def note_tasks(tell: Callable[[str], None]) -> Callable[[asyncio.AbstractEventLoop], None]:
    """Replace the function that cancels the tasks of a closing loop by one that first reports our
    own.
    """

    def noting(loop: asyncio.AbstractEventLoop) -> None:
        for task in asyncio.all_tasks(loop):
            code: Any = getattr(task.get_coro(), "cr_code", None)
            if code is not None and code.co_filename.startswith(_OWN):
                tell(f"task {code.co_qualname}")
        _CANCEL(loop)

    return noting
