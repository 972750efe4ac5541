"""The engine as a host sees it: start, post commands, receive events, stop.

Invariant: importing this module imports no torch and opens nothing; models load in the engine's own
threads after start(). `emit` is called from one engine thread, one event at a time, and must not
block. Hosts import every message from here: the stars below.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from engine import errors as errors
from engine import settings as settings
from engine import translatable as translatable
from engine import upkeep as upkeep
from engine.errors import EngineError as EngineError
from engine.messages.commands import *
from engine.messages.commands import Command
from engine.messages.conversations import *
from engine.messages.events import *
from engine.messages.events import Event, TurnEnded
from engine.messages.models import *
from engine.messages.timers import *
from engine.messages.voices import *
from engine.messages.words import *
from engine.resources import resource as resource
from engine.settings import Manner as Manner
from engine.settings import Settings as Settings
from engine.settings import Value as Value
from engine.systems import SYSTEMS as SYSTEMS
from engine.translatable import Translatable as Translatable

if TYPE_CHECKING:
    from engine.asr.pick import Pick as RecogniserPick
    from engine.bench.machine import Row
    from engine.doctor import Finding
    from engine.history.store import Store as Store
    from engine.models.library import ModelLibrary as ModelLibrary
    from engine.runtime.factories import Factories
    from engine.runtime.host.dialogue import Exchange as Exchange  # re-exported for hosts
    from engine.runtime.host.offline_synthesis import SynthesisReport
    from engine.tts.pick import Pick as SynthesiserPick
    from engine.tts.voxtream.files.pick import Pick
    from engine.voice_library import VoiceLibrary as VoiceLibrary


class Engine:
    """One assistant. start() returns at once; Ready and Failed events tell how loading went.

    `settings_path` None: settings are never written. `timers_path` None: timers end with the
    program. `history_path` None: no conversation is kept. `factories` None: the sound card and what
    the settings name.
    """

    def __init__(
        self,
        settings: Settings,
        emit: Callable[[Event], None],
        *,
        settings_path: Path | None = None,
        timers_path: Path | None = None,
        history_path: Path | None = None,
        factories: "Factories | None" = None,
    ) -> None:
        from engine.nn.memory import collect_young_only

        collect_young_only()  # until all runs
        from engine.runtime.conductor import Conductor  # imports every thread's libraries
        from engine.runtime.factories import standard_factories
        from engine.runtime.host.timers import Timers

        timers = Timers(timers_path)
        factories = factories or standard_factories()
        factories = replace(factories, history=history_path or factories.history)
        self._conductor = Conductor(factories, settings, settings_path, emit, timers)

    def start(self) -> None:
        """Create the engine's threads; they load their models and say so."""
        self._conductor.start()

    def post(self, command: Command) -> None:
        """Queue a command; never waits, may be called from any thread."""
        self._conductor.post(command)

    def stop(self) -> None:
        """Release devices and models, join every thread; the last event is Stopped, told by the
        engine's thread before this returns. A thread that a library holds fast is named in a
        Notice. EngineError when `emit` does not return.
        """
        from engine.nn.memory import collect_all_at_the_end

        self._conductor.stop()
        collect_all_at_the_end()


# What follows is for hosts without a window. Each call does one thing on the calling thread and
# imports what it needs only then.


def settings_path() -> Path:
    """The person's settings file."""
    from engine import settings_file

    return settings_file.default_path()


def timers_path() -> Path:
    """Where running timers wait for the next start."""
    from engine import settings_file
    from engine.runtime.host import timer_file

    return settings_file.data_folder() / timer_file.NAME


def history_path() -> Path:
    """Where conversations are kept."""
    from engine import settings_file
    from engine.history import store

    return settings_file.data_folder() / store.NAME


def history(path: Path | None = None) -> "Store":
    """What was kept, open: see engine.history.store. Close it again. `path` None: the person's."""
    from engine.history.store import Store

    return Store(path or history_path())


def load_settings() -> tuple[Settings, tuple[str, ...]]:
    """The person's settings, and a sentence on everything in the file that was not taken."""
    from engine import settings_file

    return settings_file.load(settings_file.default_path())


def preload(settings: Settings) -> None:
    """Import what must not be imported beside Qt; before the window."""
    from engine.llm import registry

    registry.preload(settings.language_model)


def remove_telemetry() -> None:
    """Remove what ONNX Runtime kept to report under older versions: see engine.telemetry."""
    from engine import settings_file, telemetry

    telemetry.remove_traces(settings_file.data_folder() / "telemetry-removed")


def say(
    text: str,
    settings: Settings,
    manner: Manner,
    show: Callable[[float], None] = lambda share: None,
) -> "SynthesisReport":
    """Speak a text; `show` gets the share that was spoken: see engine.runtime.host.say_command."""
    from engine.runtime.host import say_command

    return say_command.say(text, settings, manner, show)


def voice_library(settings: Settings) -> "VoiceLibrary":
    """The voices there are for the synthesiser of the settings, which is not loaded."""
    from engine.voice_library import VoiceLibrary

    return VoiceLibrary(settings)


def converse(
    settings: Settings,
    *,
    microphone: Path | None,
    loudspeaker: Path | None,
    show: Callable[[Event], None],
    recording: Path | None = None,
    exports: Sequence[Path] = (),
) -> "tuple[Exchange, ...]":
    """Talk through files or devices, and keep a `recording` of both sides and `exports` of the
    conversation: see engine.runtime.host.dialogue.
    """
    from engine.runtime.host import dialogue

    keep = dialogue.Keep(recording, tuple(exports))
    return dialogue.converse(
        settings, microphone=microphone, loudspeaker=loudspeaker, show=show, keep=keep
    )


def exchange(turn: TurnEnded) -> "Exchange | None":
    """A turn as converse() lists it: see engine.runtime.host.dialogue."""
    from engine.runtime.host import dialogue

    return dialogue.exchange(turn)


def speak_question(text: str, path: Path) -> str:
    """Make a spoken question for the demonstration; returns who speaks it."""
    from engine.runtime.host import demo_question

    return demo_question.speak_question(text, path)


def examine(settings: Settings) -> "list[Finding]":
    """What is installed, connected and missing: see engine.doctor."""
    from engine import doctor

    return doctor.examine(settings)


def bench(
    settings: Settings, *, quick: bool = False, tell: Callable[[str], None] = lambda line: None
) -> "tuple[Row, ...]":
    """Measure this machine: see engine.bench.machine."""
    from engine.bench import machine as benchmark

    return benchmark.bench(settings, quick=quick, tell=tell)


def pick_profile(rows: "Sequence[Row]") -> "Pick | None":
    """Choose and keep the neural voice's profile: see engine.bench.machine."""
    from engine.bench import machine as benchmark

    return benchmark.pick_profile(rows)


def bench_recognisers(
    settings: Settings, names: Sequence[str], tell: Callable[[str], None] = lambda line: None
) -> "tuple[Row, ...]":
    """Measure these recognisers alone: see engine.bench.machine."""
    from engine.bench import machine as benchmark

    return benchmark.bench_recognisers(settings, names, tell=tell)


def pick_recogniser(rows: "Sequence[Row]") -> "RecogniserPick | None":
    """Choose and keep what the recogniser 'auto' is: see engine.bench.machine."""
    from engine.bench import machine as benchmark

    return benchmark.pick_recogniser(rows)


def bench_synthesisers(
    settings: Settings, names: Sequence[str], tell: Callable[[str], None] = lambda line: None
) -> "tuple[Row, ...]":
    """Measure these synthesisers alone: see engine.bench.machine."""
    from engine.bench import machine as benchmark

    return benchmark.bench_synthesisers(settings, names, tell=tell)


def pick_synthesiser(rows: "Sequence[Row]") -> "SynthesiserPick | None":
    """Choose and keep whether the synthesiser 'auto' may be Kokoro: see engine.bench.machine."""
    from engine.bench import machine as benchmark

    return benchmark.pick_synthesiser(rows)


def automatic_parts(settings: Settings) -> "tuple[RecogniserPick, SynthesiserPick]":
    """What the recogniser and the synthesiser 'auto' are here: see engine.tts.pick."""
    from engine.asr import pick as ears
    from engine.tts import pick as speech

    return ears.choose(settings.recogniser), speech.choose(settings.speech)


def bench_table(rows: "Sequence[Row]") -> str:
    """The rows as a table for a terminal."""
    from engine.bench import machine as benchmark

    return benchmark.bench_table(rows)


def teach_wake_phrase(phrase: str, step: Callable[[float], None] = lambda share: None) -> Path:
    """Teach this machine a wake phrase in some minutes: see engine.runtime.host.wake_lessons."""
    from engine.runtime.host.wake_lessons import learn

    return learn(phrase, step)


def is_wake_phrase_taught(phrase: str) -> bool:
    """Whether this machine was taught a wake phrase."""
    from engine.asr.wake.choice import is_taught

    return is_taught(phrase)


def model_library(settings: Settings) -> "ModelLibrary":
    """All models there are: see engine.models.library."""
    from engine.models.library import ModelLibrary

    return ModelLibrary(settings)
