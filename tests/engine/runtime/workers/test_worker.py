import threading

from engine.runtime.workers.worker import Worker


def test_messages_are_handled_in_order_on_a_thread_of_its_name() -> None:
    seen: list[tuple[int, str]] = []
    worker: Worker[int] = Worker(
        "the worker",
        handle=lambda number: seen.append((number, threading.current_thread().name)),
        tick=lambda: None,
        report=lambda error: None,
    )
    worker.start()
    for number in range(3):
        worker.post(number)
    assert worker.stop(5.0)
    assert seen == [(0, "the worker"), (1, "the worker"), (2, "the worker")]


def test_a_fault_is_reported_and_the_next_message_is_handled() -> None:
    handled: list[int] = []
    faults: list[Exception] = []

    def handle(number: int) -> None:
        handled.append(100 // number)

    worker: Worker[int] = Worker("worker", handle=handle, tick=lambda: None, report=faults.append)
    worker.start()
    worker.post(0)
    worker.post(5)
    assert worker.stop(5.0)
    assert handled == [20]
    assert isinstance(faults[0], ZeroDivisionError)


def test_a_tick_runs_again_after_the_wait_it_asked_for() -> None:
    ticked = threading.Semaphore(0)

    def tick() -> float:
        ticked.release()
        return 0.001

    worker: Worker[int] = Worker(
        "worker", handle=lambda number: None, tick=tick, report=lambda error: None
    )
    worker.start()
    assert all(ticked.acquire(timeout=5.0) for _ in range(3))
    assert worker.stop(5.0)


def test_stop_says_when_the_thread_is_still_busy() -> None:
    release = threading.Event()
    worker: Worker[int] = Worker(
        "worker",
        handle=lambda number: bool(release.wait(5.0)) and None,
        tick=lambda: None,
        report=lambda error: None,
    )
    worker.start()
    worker.post(1)
    assert not worker.stop(0.01)
    release.set()
    assert worker.stop(5.0)


def test_a_tick_that_fails_again_and_again_is_tried_ever_more_seldom() -> None:
    def tick() -> None:
        raise ZeroDivisionError

    worker: Worker[int] = Worker(
        "worker", handle=lambda number: None, tick=tick, report=lambda error: None
    )
    waits = [worker.guarded(worker._tick_well) for _ in range(20)]
    assert waits[:3] == [0.05, 0.1, 0.2]
    assert waits[-1] == 10.0
    worker._tick = lambda: None
    worker.guarded(worker._tick_well)
    worker._tick = tick
    assert worker.guarded(worker._tick_well) == 0.05
