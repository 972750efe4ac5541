"""Anything, in any order and any phase (stories.py), on the engine's own threads: none of them
dies, and after stop() none of them is left over, nor an open file.

Invariant: nothing here hangs on how quick the machine is. What must come is waited for, as long as
it takes; a moment between two acts only makes their order another one.
"""

import gc
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import psutil
import pytest
from hypothesis import HealthCheck, Phase, example, given, settings
from hypothesis import strategies as st

from engine import api
from engine.audio import vad
from engine.audio.base import Pcm
from engine.audio.devices.file_device import FileLoudspeaker
from engine.errors import DeviceError
from engine.messages.events import Event, Notice
from engine.runtime.turn import waiting
from tests.faults import stories
from tests.faults.whole import fast_clock
from tests.help.fakes.parts import RATE, HandMicrophone

PATIENCE_S = 240.0  # a loaded machine is slow; a passing test hardly waits
STALLED_S = 60.0  # the watchdog's: before that patience ends, and long after anything here moves
LULL_S = 0.03  # when nothing is told any more, the moment is over
MOMENTS = st.sampled_from([0, 0, 1, 3, 10, 30])  # events until the next act


class LiveMicrophone(HandMicrophone):
    """Hears the person as time passes."""

    def __init__(self, speaks: Callable[[], bool]) -> None:
        super().__init__("live microphone")
        self._speaks = speaks
        self._heard_at = fast_clock()

    def read(self) -> Pcm:
        super().read()  # it may be gone
        samples = min(int((fast_clock() - self._heard_at) * RATE), RATE)
        self._heard_at = fast_clock()
        return np.full(samples, stories.LOUD if self._speaks() else 0.0, np.float32)


@dataclass
class Socket:
    """What a loudspeaker is plugged into."""

    gone: bool = False


class LiveLoudspeaker(FileLoudspeaker):
    """Plays as time passes, until its plug is pulled."""

    def __init__(self, socket: Socket) -> None:
        super().__init__(None, RATE, clock=fast_clock)
        self._socket = socket

    def write(self, pcm: Pcm) -> int:
        if self._socket.gone:
            raise DeviceError("The loudspeaker is gone.")
        return super().write(pcm)

    def close(self) -> None:
        super().close()
        if self._socket.gone:
            raise DeviceError("The loudspeaker is gone.")


class LiveParts(stories.BrittleParts):
    """Devices on which time passes by itself. `speaks`: whether the person does."""

    speaks: bool = False

    def __post_init__(self) -> None:
        self.microphones = {"": LiveMicrophone(lambda: self.speaks)}
        self.loudspeakers = {"": Socket()}  # type: ignore[dict-item]

    def _loudspeaker(self, name: str) -> LiveLoudspeaker:  # type: ignore[override]
        if name not in self.loudspeakers:
            raise DeviceError(f"There is no loudspeaker {name!r}.", hint="Plug one in.")
        return LiveLoudspeaker(self.loudspeakers[name])  # type: ignore[arg-type]


class LiveTrial(stories.Trial):
    """An engine on its threads. wait() and pass_by() hold the person up, nobody else."""

    def __init__(self, folder: Path, *, hands_free: bool, headset: bool) -> None:
        self._told = threading.Condition()
        self._marks = 0
        self.live_stage = LiveParts()
        super().__init__(self.live_stage, folder, hands_free=hands_free, headset=headset)

    def keep(self, event: Event) -> None:
        with self._told:
            super().keep(event)
            self._told.notify_all()

    def wait(self, condition: Callable[[], bool]) -> None:
        deadline = time.monotonic() + PATIENCE_S
        with self._told:
            while not condition():
                assert time.monotonic() < deadline, self.events[-30:]
                self._told.wait(LULL_S)

    def pass_by(self, events: int) -> None:
        """Until so many events were told, or none is."""
        with self._told:
            for _ in range(events):
                if not self._told.wait(LULL_S):
                    return

    def catch_up(self) -> None:
        """Until everything posted so far was acted on."""
        self._marks += 1
        mark = Notice(f"mark {self._marks}")
        self.post(mark)  # what the conductor does not know it shows as it is
        self.wait(lambda: mark in self.events)

    def settle(self) -> None:
        self.post(
            api.ChangeSetting("audio.hands_free", False)
        )  # or what was said before is another turn, later
        self.repair()
        self.catch_up()
        self.wait(lambda: self.idle)

    def live_through(self, story: list[stories.Scene]) -> None:
        for act, moment in stories.acts(story):
            self.act(act)
            self.pass_by(moment)
        self.settle()
        self.parts.loudspeakers[""].gone = False
        turns = len(self.ended())
        self.post(api.SendText("are you there"))
        self.wait(lambda: len(self.ended()) > turns)
        self.settle()
        assert self.answered(), self.events[-30:]

    def act(self, act: Callable[[stories.Trial], None]) -> None:
        if isinstance(act, stories.Late):
            floor = self.conductor._floor
            dropped = floor.candidate
            over = min(floor.turn, dropped.turn if dropped else floor.turn)
            if act.turn >= over:  # it could be a lie by the time it arrives
                return
        act(self)
        self.live_stage.speaks = self.speaks


def descriptors() -> int:
    gc.collect()
    return int(psutil.Process().num_fds())


@contextmanager
def nothing_left_over() -> Iterator[set[threading.Thread]]:
    """Gives the threads there were before."""
    threads, files = set(threading.enumerate()), descriptors()
    yield threads
    assert set(threading.enumerate()) <= threads
    assert descriptors() <= files


def live(story: list[stories.Scene], folder: Path, *, hands_free: bool, headset: bool) -> None:
    with pytest.MonkeyPatch.context() as patch, nothing_left_over() as before:
        patch.setattr(waiting, "STALLED_S", STALLED_S)
        patch.setattr(waiting, "TRANSCRIPT_S", STALLED_S)
        trial = LiveTrial(folder, hands_free=hands_free, headset=headset)
        trial.conductor.start()
        born = set(threading.enumerate()) - before
        try:
            trial.live_through(story)
            assert all(thread.is_alive() for thread in born)
        finally:
            trial.conductor.stop()
        trial.check()


@pytest.fixture(autouse=True)
def _opened_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a process opens once, and keeps, is open before anything is counted."""
    monkeypatch.setattr(vad, "Vad", stories.LevelVad)
    trial = LiveTrial(tmp_path, hands_free=False, headset=False)
    trial.conductor.start()
    trial.post(api.SendText("hello"))
    trial.wait(lambda: bool(trial.ended()))
    trial.conductor.stop()


ANYTHING = given(story=stories.any_story(MOMENTS), hands_free=st.booleans(), headset=st.booleans())
# Threads take turns as they like: what fails once may pass again, so nothing is gained by making
# the example smaller.
LIVE = settings(
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)


@pytest.mark.slow
@settings(LIVE, max_examples=2)
@example(story=stories.LIVE_STORY, hands_free=True, headset=True)
@ANYTHING
def test_every_turn_ends_once_and_nothing_is_left_over(story, hands_free, headset, tmp_path):
    live(story, tmp_path, hands_free=hands_free, headset=headset)


@pytest.mark.long
@pytest.mark.timeout(3600)
@settings(LIVE, max_examples=60)
@ANYTHING
def test_so_it_is_after_two_thousand_acts(story, hands_free, headset, tmp_path):
    live(story, tmp_path, hands_free=hands_free, headset=headset)
