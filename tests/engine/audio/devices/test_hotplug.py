"""Plugging in and pulling out is noticed without ever waiting."""

import pytest

from engine.audio.devices.hotplug import DeviceWatch, Enumeration
from engine.audio.devices.portaudio import Devices
from tests.stepped_clock import SteppedClock

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


def test_nothing_is_looked_at_while_nothing_changes() -> None:
    room = Room()
    watch = room.watch()
    assert [watch.poll() for _ in range(5)] == [None] * 5
    assert room.looks == []


def test_a_change_is_told_once_and_only_when_the_look_is_done() -> None:
    room = Room()
    watch = room.watch()
    room.change(NEW)
    assert watch.poll() is None
    room.looks[0].ready = True
    assert watch.poll() == NEW
    assert watch.poll() is None


def test_a_change_that_leaves_the_list_alone_is_not_told() -> None:
    room = Room()
    watch = room.watch()
    for expected in (NEW, None):
        room.change(NEW)
        watch.poll()
        room.looks[-1].ready = True
        assert watch.poll() == expected


def test_a_change_during_a_look_starts_another() -> None:
    room = Room()
    watch = room.watch()
    room.change(OLD)
    watch.poll()
    room.change(NEW)
    watch.poll()
    assert room.looks[0].cancelled
    room.looks[1].ready = True
    assert watch.poll() == NEW


def test_closing_ends_a_look() -> None:
    room = Room()
    watch = room.watch()
    room.change(NEW)
    watch.poll()
    watch.close()
    assert room.looks[0].cancelled


@pytest.mark.slow
def test_a_child_that_hangs_is_ended() -> None:
    clock = SteppedClock()
    look = Enumeration(clock)
    clock.advance(60)
    assert look.done()
    assert look.result() is None
