"""The engine as a host sees it: start, post commands, receive events, stop.

Invariant: importing this module imports no torch and opens nothing; models load in the engine's own
threads after start(). `emit` is called from one engine thread, one event at a time, and must not
block. Hosts import every message from here: the stars below.
"""

import ast
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from importlib import metadata
from pathlib import Path
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any

from engine import errors as errors
from engine import settings as settings
from engine import translatable as translatable
from engine.crash_notes import CrashNotes as CrashNotes
from engine.errors import EngineError as EngineError
from engine.languages import HEARD as HEARD
from engine.languages import SPOKEN as SPOKEN
from engine.languages import WINDOW_LANGUAGES as WINDOW_LANGUAGES
from engine.languages import of_system as language_of_system
from engine.messages.commands import *
from engine.messages.commands import Command
from engine.messages.comparison import *
from engine.messages.conversations import *
from engine.messages.events import *
from engine.messages.events import Event, TurnEnded
from engine.messages.models import *
from engine.messages.reading import *
from engine.messages.timers import *
from engine.messages.voices import *
from engine.messages.words import *
from engine.resources import resource as resource
from engine.resources import table as table
from engine.settings import SayOptions as SayOptions
from engine.settings import SettingKey as SettingKey
from engine.settings import Settings as Settings
from engine.settings import Value as Value
from engine.settings.systems import KOKORO as KOKORO
from engine.settings.systems import TITLES as TITLES
from engine.translatable import Translatable as Translatable

if TYPE_CHECKING:
    from engine.asr.pick import choose as choose_recogniser
    from engine.asr.wake.spotter import is_taught as is_wake_phrase_taught
    from engine.bench import (
        bench,
        bench_recognisers,
        bench_synthesisers,
        bench_table,
        pick_profile,
        pick_recogniser,
        pick_synthesiser,
    )
    from engine.doctor import diagnostics, examine
    from engine.doctor.licences import works
    from engine.export import comparison_table
    from engine.history.store import Store
    from engine.history.store import default_path as history_path
    from engine.llm.registry import preload
    from engine.models.choice import ModelLibrary
    from engine.names_file import add as add_names
    from engine.names_file import load as load_names
    from engine.names_file import read_file as read_names
    from engine.names_file import remove as remove_names
    from engine.names_file import write_file as write_names
    from engine.reading.document import Document, open_document
    from engine.reading.shelf import Shelf
    from engine.reading.shelf import default_path as shelf_path
    from engine.runtime.factories import Factories
    from engine.runtime.headless.comparison import compare
    from engine.runtime.headless.dialogue import converse
    from engine.runtime.headless.reading_command import (
        PlaceKeeper,
        ReadingOptions,
        export_book,
        read_aloud,
    )
    from engine.runtime.headless.recording import Watch
    from engine.runtime.headless.say_command import say, speak_question
    from engine.runtime.host.timers import default_path as timers_path
    from engine.runtime.host.voice_learning import Learnt, learn_recording
    from engine.runtime.host.voice_learning import add as add_voice
    from engine.runtime.host.voice_learning import learn as learn_voice
    from engine.runtime.host.wake_training import learn as teach_wake_phrase
    from engine.serve.address import Address
    from engine.serve.doors.speech_dispatcher.installation import COMMAND as MODULE_COMMAND
    from engine.serve.doors.speech_dispatcher.installation import (
        Installation as SpeechDispatcherInstallation,
    )
    from engine.serve.doors.speech_dispatcher.module import serve_daemon
    from engine.serve.server import (
        Watcher,
        own_token,
        serve,
        serve_agent,
        serve_cluster,
    )
    from engine.settings_file import default_path as settings_path
    from engine.text.names import Name
    from engine.text.names import written_out as names_as_text
    from engine.tts.kokoro.learnt import choose as choose_learnt
    from engine.tts.pick import choose as choose_synthesiser
    from engine.tts.voice_store import VoiceStore, preview_sentence


class Engine:
    """One assistant. start() returns at once; Ready and Failed events report the result of loading.

    `settings_path` None: settings are never written. `timers_path` None: timers end with the
    program. `history_path` None: no conversation is saved, and no place in a document. `factories`
    None: the sound card and the parts of the settings.
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
        from engine.machine import collect_young_only

        collect_young_only()  # until everything has started
        from engine.runtime.conductor import Conductor  # imports every thread's libraries
        from engine.runtime.factories import standard_factories
        from engine.runtime.host.timers import Timers

        timers = Timers(timers_path)
        factories = factories or standard_factories()
        factories = replace(factories, history=history_path or factories.history)
        self._conductor = Conductor(factories, settings, settings_path, emit, timers)
        # Queues a command; never waits, may be called from any thread.
        self.post: Callable[[Command], None] = self._conductor.post

    def start(self) -> None:
        """Create the engine's threads, which load their models and report it."""
        self._conductor.start()

    def stop(self) -> None:
        """Release devices and models, join every thread; the last event is Stopped, emitted by the
        engine's thread before this returns. A thread that does not end is named in a Notice.
        EngineError when `emit` does not return.
        """
        from engine.machine import collect_all_at_the_end

        self._conductor.stop()
        collect_all_at_the_end()


def version() -> str:
    """Return this program's version, for example 0.1.0; empty in a folder that was never
    installed.
    """
    try:
        return metadata.version("rubato")
    except metadata.PackageNotFoundError:
        return ""


def crash_notes() -> CrashNotes:
    """Return the notes of crashes on this machine, stored for the user: see engine.crash_notes."""
    from engine import settings_file

    return CrashNotes(settings_file.data_folder() / "notes")


def load_settings() -> tuple[Settings, tuple[str, ...]]:
    """Return the user's settings, and a sentence on every unused entry of the file."""
    from engine import settings_file

    return settings_file.load(settings_file.default_path())


def voices(settings: Settings) -> "VoiceStore":
    """Return the available voices for the synthesiser of the settings, which is not loaded."""
    from engine.tts import registry, voice_store

    return voice_store.VoiceStore(registry.usable(settings.speech))


@cache
def _later() -> dict[str, str]:
    """Return further names for a host without a window, and their modules: each does one thing on
    the calling thread, and is imported when it is first used. The list is the imports above that
    only type checkers run.
    """
    page = ast.parse(Path(__file__).read_text(encoding="utf-8"))
    unseen = next(each for each in page.body if isinstance(each, ast.If))
    imports = [each for each in unseen.body if isinstance(each, ast.ImportFrom)]
    return {
        name.asname or name.name: f"{each.module}:{name.name}"
        for each in imports
        for name in each.names
    }


if not TYPE_CHECKING:  # otherwise a type checker would accept every name

    def __getattr__(name: str) -> Any:
        if name.startswith("__") or name not in _later():
            raise AttributeError(f"engine.api has no {name!r}")
        return resolve_name(_later()[name])
