import asyncio

import pytest

from engine.llm.servers.stepped import Steps


@pytest.fixture
def steps():
    steps = Steps()
    yield steps
    steps.close()


def result(generator):
    """Run to the end; the generator's return value and how often it waited."""
    waits = 0
    while True:
        try:
            next(generator)
        except StopIteration as stop:
            return stop.value, waits
        waits += 1


async def immediately():
    return "done"


def test_work_that_is_done_at_once_does_not_wait(steps):
    assert result(steps.steps(immediately(), 1)) == ("done", 0)


def test_control_comes_back_while_work_goes_on(steps):
    async def slowly():
        await asyncio.sleep(0.12)
        return "done"

    value, waits = result(steps.steps(slowly(), 5))

    assert value == "done"
    assert waits >= 1


def test_the_limit_ends_the_wait(steps):
    with pytest.raises(TimeoutError):
        result(steps.steps(asyncio.sleep(60), 0.01))


def test_closing_cancels_the_work(steps):
    seen = []

    async def forever():
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            seen.append("cancelled")
            raise

    waiting = steps.steps(forever(), 60)
    next(waiting)
    waiting.close()

    assert seen == ["cancelled"]


def test_an_error_of_the_work_is_raised(steps):
    async def fails():
        raise LookupError("x")

    with pytest.raises(LookupError):
        result(steps.steps(fails(), 1))
