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


def test_a_change_of_the_list_is_told_once_and_only_when_the_look_is_done() -> None:
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


def test_a_change_during_a_look_starts_another_and_closing_ends_it() -> None:
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
def test_a_child_that_hangs_is_ended() -> None:
    clock = SteppedClock()
    look = Enumeration(clock)
    clock.advance(60)
    assert look.done()
    assert look.result() is None
