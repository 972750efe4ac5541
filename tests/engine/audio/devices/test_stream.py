"""A device that stopped is told from a machine that slept."""

from engine.audio.devices.stream import LIMIT_S, Liveness
from tests.stepped_clock import SteppedClock


def _look(liveness: Liveness, clock: SteppedClock, seconds: float, count: int) -> bool:
    """Look every 50 ms; whether it was ever called stalled."""
    stalled = False
    for _ in range(round(seconds / 0.05)):
        clock.advance(0.05)
        stalled = liveness.stalled(count) or stalled
    return stalled


def test_a_count_that_stands_still_is_a_stalled_device() -> None:
    clock = SteppedClock()
    liveness = Liveness(clock)
    lived = _live(liveness, clock, 6.0)
    assert not _look(liveness, clock, LIMIT_S - 0.05, lived)
    assert _look(liveness, clock, 0.15, lived)


def _live(liveness: Liveness, clock: SteppedClock, seconds: float) -> int:
    """A device that moves at every look; its count."""
    looks = round(seconds / 0.05)
    assert not any(_look(liveness, clock, 0.05, count) for count in range(1, looks + 1))
    return looks


def test_a_device_that_has_just_started_may_stand_still_for_longer() -> None:
    """On a machine that is busy starting everything else its first calls come in fits."""
    clock = SteppedClock()
    liveness = Liveness(clock)
    for count in range(1, 4):
        assert not _look(liveness, clock, 2.0, count)
    assert _look(liveness, clock, 1.2, 3)


def test_a_suspended_machine_is_no_stalled_device() -> None:
    clock = SteppedClock()
    liveness = Liveness(clock)
    _look(liveness, clock, 0.3, 1)
    clock.advance(3600)
    assert not liveness.stalled(1)
    assert not liveness.stalled(2)
