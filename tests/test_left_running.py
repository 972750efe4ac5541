"""What a test leaves running is found, and what ended or was there before is not."""

import asyncio
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.help.process.left_running import Running, note_tasks

SLEEPS = [sys.executable, "-c", "import time; time.sleep(600)"]


@pytest.fixture
def thread() -> Iterator[threading.Thread]:
    go_on = threading.Event()
    started = threading.Thread(target=go_on.wait, name="forgotten")
    yield started
    go_on.set()
    started.join()


def test_a_thread_and_a_child_process_are_found_until_they_end(thread):
    running = Running()
    assert running.left(0) == []
    thread.start()
    with subprocess.Popen(SLEEPS) as child:
        found = running.left(0)
        assert found[0] == "thread forgotten"
        assert found[1].startswith(f"process {child.pid} ")
        assert Running().left(0) == []
        child.kill()
    assert running.left(0) == ["thread forgotten"]
    running.renew()
    assert running.left(0) == []


def test_a_child_of_a_thread_that_several_tests_share_is_not_left():
    with ThreadPoolExecutor(1) as pool:
        pool.submit(threading.get_ident).result()  # its thread runs before the test begins
        running = Running()
        child = pool.submit(subprocess.Popen, SLEEPS).result()
        assert running.left(0) == []
        child.kill()
        child.wait()


async def forgotten() -> None:
    await asyncio.sleep(600)


async def awaited() -> None:
    await asyncio.sleep(0)


def test_a_task_that_its_loop_had_to_cancel_is_found(monkeypatch):
    running = Running()
    monkeypatch.setattr(asyncio.runners, "_cancel_all_tasks", note_tasks(running.tasks.append))

    async def story() -> None:
        kept = asyncio.create_task(forgotten())
        await asyncio.create_task(awaited())
        assert not kept.done()

    asyncio.run(story())
    assert running.left(0) == ["task forgotten"]
