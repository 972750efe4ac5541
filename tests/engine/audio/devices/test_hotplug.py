"""Plugging in and pulling out is noticed without waiting; a machine that slept lost no device."""

import pytest

from engine.audio.devices.hotplug import DeviceWatch, Enumeration
from engine.audio.devices.portaudio import Devices
from engine.audio.devices.stream import LIMIT_S, Liveness
from tests.help.fakes.stepped_clock import SteppedClock

OLD, NEW = Devices(("built-in",), ("built-in",)), Devices(("built-in", "usb"), ("built-in",))


class Look:
    """An enumeration that is done when told so."""

    def __init__(self, found: Devices | None) -> None:
        self.ready = False
        self.cancelled = False
        self._found = found

    def done(self) -> bool:
        return self.ready

    def result(self) -> Devices | None:
        return self._found

    def cancel(self) -> None:
        self.cancelled = True


class Room:
    """Devices that come and go, and the looks that were taken at them."""

    def __init__(self) -> None:
        self.fingerprint = 0
        self.found: Devices | None = OLD
        self.looks: list[Look] = []

    def enumerate(self) -> Look:
        self.looks.append(Look(self.found))
        return self.looks[-1]

    def watch(self) -> DeviceWatch:
        """One that has listed what there is."""
        watch = DeviceWatch(lambda: self.fingerprint, self.enumerate)
        watch.poll()
        self.looks.pop().ready = True
        assert watch.poll() == self.found
        return watch

    def change(self, found: Devices | None) -> None:
        self.fingerprint += 1
        self.found = found


def test_a_change_of_the_list_is_told_once_and_only_when_the_look_is_done():
    room = Room()
    watch = room.watch()
    assert [watch.poll() for _ in range(5)] == [None] * 5
    assert room.looks == []  # nothing has changed
    for expected in (NEW, None):
        room.change(NEW)
        assert watch.poll() is None
        room.looks[-1].ready = True
        assert watch.poll() == expected
        assert watch.poll() is None


def test_a_change_during_a_look_starts_another_and_closing_ends_it():
    room = Room()
    watch = room.watch()
    for found in (OLD, NEW, OLD):
        room.change(found)
        watch.poll()
        if found is NEW:
            room.looks[1].ready = True
            assert watch.poll() == NEW
    assert [look.cancelled for look in room.looks] == [True, False, False]
    watch.close()
    assert room.looks[2].cancelled


@pytest.mark.slow
def test_a_child_that_hangs_is_ended():
    clock = SteppedClock()
    look = Enumeration(clock)
    clock.advance(60)
    assert look.done()
    assert look.result() is None


def test_a_child_imports_nothing_from_the_current_folder(tmp_path, monkeypatch):
    (tmp_path / "json.py").write_text("open('executed', 'w').close()\n")
    (tmp_path / "engine.py").write_text("open('executed', 'w').close()\n")
    monkeypatch.chdir(tmp_path)
    look = Enumeration()
    while not look.done():
        pass
    assert look.result() is not None
    assert not (tmp_path / "executed").exists()


def _look(liveness: Liveness, clock: SteppedClock, seconds: float, count: int) -> bool:
    """Look every 50 ms; whether it was ever called stalled."""
    stalled = False
    for _ in range(round(seconds / 0.05)):
        clock.advance(0.05)
        stalled = liveness.stalled(count) or stalled
    return stalled


def test_a_count_that_stands_still_is_a_stalled_device():
    clock = SteppedClock()
    liveness = Liveness(clock)
    lived = 120  # looks in six seconds, at each of which it moves
    assert not any(_look(liveness, clock, 0.05, count) for count in range(1, lived + 1))
    assert not _look(liveness, clock, LIMIT_S - 0.05, lived)
    assert _look(liveness, clock, 0.15, lived)


def test_a_device_that_has_just_started_may_stand_still_for_longer():
    """On a machine that is busy starting everything else its first calls come in fits."""
    clock = SteppedClock()
    liveness = Liveness(clock)
    for count in range(1, 4):
        assert not _look(liveness, clock, 2.0, count)
    assert _look(liveness, clock, 1.2, 3)


def test_a_suspended_machine_is_no_stalled_device():
    clock = SteppedClock()
    liveness = Liveness(clock)
    _look(liveness, clock, 0.3, 1)
    clock.advance(3600)
    assert not liveness.stalled(1)
    assert not liveness.stalled(2)
