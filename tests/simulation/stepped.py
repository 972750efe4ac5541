"""The whole engine on a clock that is stepped by hand, in a simulated room.

Invariant: the engine's own code runs, every thread's share in turn, on one thread; what a share
costs in processor time is time in which that thread is busy. So a minute takes seconds, and two
runs differ by the machine's speed only.
"""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import cache, partial
from types import SimpleNamespace
from typing import Any, Self
from unittest.mock import patch

import numpy as np

from engine.asr.base import Recogniser
from engine.asr.pick import BUILT_IN
from engine.asr.whisper import model
from engine.audio.base import Pcm
from engine.audio.echo.canceller import Cleaning, EchoCanceller, open_canceller
from engine.messages.commands import Command
from engine.messages.events import Event, Levels, RateMeasured
from engine.runtime.conductor import Conductor
from engine.runtime.factories import standard_factories
from engine.settings import RecogniserSettings, Settings, SpeechSettings
from engine.translatable import Progress
from engine.tts.base import AudioFrame, TtsModel
from tests.help.fakes.parts import FakeLanguageModel, NothingChanges
from tests.help.fakes.stepped_clock import SteppedClock
from tests.simulation.devices import RoomDevices
from tests.simulation.overheard import HeardWords, TappedModel, heard_words
from tests.simulation.room import Acoustics, Room, active_db

STEP_S = 0.01
SPEECH = SpeechSettings(engine="espeak")  # quick, and needs no weights
_LIMIT = 200  # rounds of one thread in one step: what never rests is a fault


class SteppedWorker:
    """See Worker; its share is done when the engine is stepped."""

    processor_s = staticmethod(time.process_time)  # Whisper computes on threads of its own

    def __init__(
        self,
        workers: list["SteppedWorker"],
        clock: Callable[[], float],
        name: str,
        *,
        handle: Callable[[Any], None],
        tick: Callable[[], float | None],
        report: Callable[[Exception], None],
    ) -> None:
        self._handle, self._tick, self._report = handle, tick, report
        self._clock = clock
        self._inbox: list[Any] = []
        self._due: float | None = 0.0  # when to tick; None = with the next message
        self._free_at = 0.0
        self.name = name
        self.busy_s = 0.0  # processor time, all told
        workers.append(self)

    def start(self) -> None:
        """Nothing runs by itself."""

    def post(self, message: Any) -> None:
        self._inbox.append(message)

    def stop(self, timeout_s: float) -> bool:
        self._free_at = 0.0
        while self._inbox:
            self.guarded(partial(self._handle, self._inbox.pop(0)))
        return True

    def run(self) -> None:
        """The share of this moment."""
        now = self._clock()
        for _ in range(_LIMIT):
            due = self._due is not None and now >= self._due
            if now < self._free_at or not (due or self._inbox):
                return
            began = self.processor_s()
            while self._inbox:
                self.guarded(partial(self._handle, self._inbox.pop(0)))
            wait_s = self.guarded(self._tick)
            cost = self.processor_s() - began
            self.busy_s += cost
            self._free_at = max(now, self._free_at) + cost if cost > STEP_S / 10 else now
            self._due = None if wait_s is None else now + wait_s
        raise AssertionError(f"{self.name} does not come to rest")

    def guarded(self, action: Callable[[], float | None]) -> float | None:
        try:
            return action()
        except Exception as error:  # noqa: BLE001 - as the real worker does
            self._report(error)
            return 0.05


class FreeWorker(SteppedWorker):
    """Costs no time, so that a trial is the same on every machine."""

    processor_s = staticmethod(lambda: 0.0)


class SteppedEngine:
    """An engine in a room. step() and run() let time pass; `events` has what was told, and when."""

    def __init__(
        self,
        acoustics: Acoustics,
        reply: str,
        settings: Settings | None = None,
        *,
        canceller: Callable[[Cleaning], EchoCanceller] = open_canceller,
        ears: str = BUILT_IN,
        kind: type[SteppedWorker] = SteppedWorker,
    ) -> None:
        """`ears` is the kind of recogniser, whatever the settings say; `kind` that of threads."""
        self.clock = SteppedClock()
        self._settings = settings or Settings(speech=SPEECH)
        self.room = Room(acoustics, voice_db=voice_db(self._settings.speech))
        self.devices = RoomDevices(self.room, self.clock)
        self.model = FakeLanguageModel(reply)
        self.events: list[tuple[float, Event]] = []
        self.gains: list[float] = []  # of the loudspeaker, per step
        self._workers: list[SteppedWorker] = []
        self._patches = ExitStack()
        self._ears = ears
        self._kind = kind
        self._factories = replace(standard_factories(), **self._own_parts(), canceller=canceller)

    def _own_parts(self) -> dict[str, Any]:
        return {
            "microphone": lambda name: self.devices.microphone,
            "loudspeaker": lambda name: self.devices.loudspeaker,
            "recogniser": lambda settings, phrases: recogniser(self._ears),
            "synthesiser": self._tapped,
            "language_model": lambda settings, progress: self.model,
            "devices": NothingChanges(),
        }

    def _tapped(self, settings: SpeechSettings, progress: Progress) -> TtsModel:
        self.voice = TappedModel(standard_factories().synthesiser(settings, progress))
        return self.voice

    def __enter__(self) -> Self:
        self._patches.enter_context(stepping(self._workers, self.clock, self._kind))
        self._conductor = Conductor(self._factories, self._settings, None, self._tell)
        self._conductor.start()
        self.run(3.0)  # everything loads
        return self

    def __exit__(self, *_: object) -> None:
        self._conductor.stop()
        self._patches.close()

    @property
    def now(self) -> float:
        return self.clock()

    def post(self, command: Command) -> None:
        self._conductor.post(command)

    def step(self) -> None:
        self.clock.advance(STEP_S)
        self.devices.catch_up()  # here, or the room would be counted as work of the listener
        for worker in self._workers:
            worker.run()
        for worker in self._workers:  # answers to what was just said, within the same step
            worker.run()
        self.gains.append(self.devices.loudspeaker.gain)

    def run(self, seconds: float) -> None:
        for _ in range(round(seconds / STEP_S)):
            self.step()

    def run_until(self, condition: Callable[[], bool], *, at_most: float) -> bool:
        end = self.now + at_most
        while not condition():
            if self.now >= end:
                return False
            self.step()
        return True

    def heard_words(self, since: float) -> list[HeardWords]:
        """How many words of the utterance heard last left the loudspeaker, from its sound after
        `since` (seconds) alone; one for each place that sounds alike, [] when that cannot be told.
        """
        played = np.concatenate(self.devices.played[round(since / STEP_S) :])
        found = (heard_words(said, played) for said in reversed(self.voice.said))
        return next((heard for heard in found if heard), [])

    def busy(self) -> dict[str, float]:
        """Share of one core that each thread took so far."""
        return {worker.name: worker.busy_s / self.now for worker in self._workers}

    def _tell(self, event: Event) -> None:
        if not isinstance(event, Levels | RateMeasured):  # many, and of no interest here
            self.events.append((self.clock(), event))


@contextmanager
def stepping(
    workers: list[SteppedWorker],
    clock: Callable[[], float],
    kind: type[SteppedWorker] = SteppedWorker,
) -> Iterator[None]:
    """Every worker of an engine made meanwhile joins `workers`, and every clock is `clock`."""
    worker = partial(kind, workers, clock)
    stepped = SimpleNamespace(monotonic=clock, time=clock)
    with ExitStack() as patches:
        for name, module in list(sys.modules.items()):
            if name.startswith("engine.runtime.") and hasattr(module, "Worker"):
                patches.enter_context(patch.object(module, "Worker", worker))
            if name.startswith("engine.runtime.") and hasattr(module, "time"):
                patches.enter_context(patch.object(module, "time", stepped))
        yield


class _Kept:
    """A recogniser for one engine after the other: none of them closes it."""

    def __init__(self, recogniser: Recogniser) -> None:
        self.info, self.open, self.adjust = recogniser.info, recogniser.open, recogniser.adjust

    def close(self) -> None:
        """Stay."""


@cache
def recogniser(name: str = BUILT_IN) -> Recogniser:
    """One that expects the skills' sentences; loaded once, and for good."""
    factories = standard_factories()
    with patch.object(model, "MAX_THREADS", 1):  # the time of several would count several times
        return _Kept(factories.recogniser(RecogniserSettings(name), factories.phrases()))


@cache
def voice_db(speech: SpeechSettings = SPEECH) -> float:
    """Active level of what the assistant's voice says at full volume."""
    model: TtsModel = standard_factories().synthesiser(speech, lambda *_: None)
    session = model.open(model.voices()[0], seed=1)
    for word in ("the", "river", "rises", "in", "the", "hills", "and", "runs", "to", "the", "sea"):
        session.push_word(word)
    session.end_input()
    pcm: list[Pcm] = []
    while isinstance(step := session.step(), AudioFrame):
        pcm.append(step.pcm)
    session.close()
    model.close()
    return active_db(np.concatenate(pcm))
