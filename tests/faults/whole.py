"""The whole engine with its real skills and its real voice, on a loudspeaker in memory.

Invariant: only devices and the recogniser are replaced; what a test breaks is the real thing.
"""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

from engine.api import Engine, Failed, Part, Ready, SendText, Settings, TurnEnded
from engine.audio.base import Loudspeaker
from engine.audio.devices.file_device import FileLoudspeaker
from engine.messages.words import Ending
from engine.runtime.factories import Factories, standard_factories
from engine.settings import SpeechSettings
from engine.translatable import Progress
from engine.tts import pick
from engine.tts.base import TtsModel
from engine.tts.registry import BUILT_IN
from tests.help.fakes.parts import FakeRecogniser, HandMicrophone, NothingChanges

T = TypeVar("T")
PATIENCE_S = 60.0  # a loaded machine is slow; a passing test hardly waits
LOOK_S = 0.005  # at what is no event, such as how much a loudspeaker has
RATE = 48_000  # Hz of the loudspeaker
HURRY = 8.0  # replies are heard this many times faster than a person would want
THREADS = {"conductor", "listener", "transcriber", "language model", "speaker", "background"}
THREADS |= {"history writer", "model manager", "fetching", "reader"}
LOADED = {Part.RECOGNISER, Part.LANGUAGE_MODEL, Part.SYNTHESISER}


def fast_clock() -> float:
    return time.monotonic() * HURRY


@dataclass
class Devices:
    """A microphone that hears nothing and a loudspeaker in memory, handed out once each."""

    microphone: HandMicrophone = field(default_factory=HandMicrophone)
    loudspeaker: Loudspeaker = field(
        default_factory=lambda: FileLoudspeaker(None, RATE, clock=fast_clock)
    )

    def in_place_of(self, factories: Factories) -> Factories:
        def synthesiser(speech: SpeechSettings, progress: Progress) -> TtsModel:
            """The formant voice, unless another than the default is asked for: what it says does
            not hang on a pack of weights.
            """
            default = speech.engine == pick.BUILT_IN
            speech = replace(speech, engine=BUILT_IN) if default else speech
            return factories.synthesiser(speech, progress)

        return replace(
            factories,
            synthesiser=synthesiser,
            microphone=lambda name: self.microphone,
            loudspeaker=lambda name: self.loudspeaker,
            recogniser=lambda settings, phrases: FakeRecogniser(),
            devices=NothingChanges(),
        )


class Told:
    """Everything that was told, in order."""

    def __init__(self) -> None:
        self.events: list[Any] = []
        self._changed = threading.Condition()

    def of(self, kind: type[T]) -> list[T]:
        return [event for event in list(self.events) if isinstance(event, kind)]

    def wait(self, condition: Callable[[], T]) -> T:
        """What the condition gives, once that is true."""
        deadline = time.monotonic() + PATIENCE_S
        while not (found := condition()):
            assert time.monotonic() < deadline, self.events[-30:]
            with self._changed:
                self._changed.wait(LOOK_S)
        return found

    def _keep(self, event: object) -> None:
        with self._changed:
            self.events.append(event)
            self._changed.notify_all()


class Whole(Told):
    """A started engine."""

    def __init__(self, settings: Settings, factories: Factories, path: Path | None = None) -> None:
        super().__init__()
        self.engine = Engine(settings, self._keep, settings_path=path, factories=factories)
        self.post = self.engine.post

    def ended(self, turn: int) -> TurnEnded:
        self.wait(lambda: any(event.turn == turn for event in self.of(TurnEnded)))
        return next(event for event in self.of(TurnEnded) if event.turn == turn)

    def ask(self, text: str = "hello") -> TurnEnded:
        """One whole typed turn."""
        turn = max((event.turn for event in self.of(TurnEnded)), default=0) + 1
        self.engine.post(SendText(text))
        return self.ended(turn)

    def failed(self, part: Part | None = None) -> list[Failed]:
        return [event for event in self.of(Failed) if event.part is part or part is None]

    def works(self) -> bool:
        """Whether a turn is answered, spoken and heard to its end."""
        answer = self.ask("spell cat")
        return answer.ending is Ending.COMPLETE and answer.heard == answer.reply != ""


W = TypeVar("W", bound=Whole)


def whole(
    settings: Settings | None = None,
    *,
    factories: Factories | None = None,
    path: Path | None = None,
) -> AbstractContextManager[Whole]:
    """A running engine; `factories` None: the real ones on Devices()."""
    factories = factories or Devices().in_place_of(standard_factories())
    return running(Whole(settings or Settings(), factories, path))


@contextmanager
def running(engine: W) -> Iterator[W]:
    """Started, with all its parts, and stopped in the end."""
    engine.engine.start()
    try:
        engine.wait(lambda: {event.part for event in engine.of(Ready)} >= LOADED)
        yield engine
    finally:
        engine.engine.stop()
    left = {thread.name for thread in threading.enumerate()} & THREADS
    assert not left, left
