"""The conductor's threads, which are created, started and stopped together.

Invariant: after stop() no thread of the engine is running unless a library blocks it; then its name
is returned.
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from engine.llm.base import AssistantState
from engine.runtime.factories import Factories
from engine.runtime.turn.reply import LiveControls
from engine.runtime.workers.background import Background
from engine.runtime.workers.ears.ears import Ears
from engine.runtime.workers.history_writer import HistoryWriter
from engine.runtime.workers.language_model_worker import LanguageModelWorker
from engine.runtime.workers.model_manager import ModelManager
from engine.runtime.workers.reader import Reader
from engine.runtime.workers.recorder import Recorder, Tap
from engine.runtime.workers.voice.speech_worker import SpeechWorker
from engine.runtime.workers.worker import Actor, Tell
from engine.settings import Settings

logger = logging.getLogger(__name__)

STOP_S = 3.0  # each thread gets this long to finish its current step


@dataclass(frozen=True)
class Workers:
    ears: Ears
    language_model: LanguageModelWorker
    speaker: SpeechWorker
    reader: Reader
    recorder: Recorder
    background: Background
    history_writer: HistoryWriter
    model_manager: ModelManager
    controls: LiveControls  # of the speaker

    def start(self) -> None:
        for member in self._members().values():
            member.start()

    @property
    def longest_stop_s(self) -> float:
        """The longest duration of stop()."""
        return STOP_S * (len(self._members()) + 2)  # ears and model manager have two threads

    def stop(self) -> tuple[str, ...]:
        """Stop all, ears first; return the names of those that did not end in time."""
        late = list[str]()
        for name, member in self._members().items():
            try:
                if not member.stop(STOP_S):
                    late.append(name)
            except Exception:  # while its part closes; the others must not be kept running
                logger.exception("could not release name=%s", name)
        return tuple(late)

    def _members(self) -> dict[str, Actor[Any]]:
        return {
            name.replace("_", " "): each
            for name, each in vars(self).items()
            if isinstance(each, Actor)
        }


def assemble(
    factories: Factories,
    settings: Settings,
    tell: Tell,
    state: Callable[[], AssistantState],
    in_force: Callable[[], Settings],
) -> Workers:
    """Create the workers for these settings, not yet started; `in_force` returns later settings."""
    controls = LiveControls(lead_ms=settings.audio.lead_ms, rate=settings.speech.rate)
    controls.volume = settings.audio.volume
    speaker = SpeechWorker(factories, tell, controls)
    ears = Ears(factories, tell, controls)
    language_model = LanguageModelWorker(factories, tell, speaker.post, state)
    background = Background(factories, tell, speaker.voice)
    recorder = Recorder(tell, lambda sink: ears.post(Tap(sink)), background.post)
    history_writer = HistoryWriter(factories.history, tell)
    model_manager = ModelManager(tell, in_force)
    talkers = (ears, language_model, speaker, Reader(factories, tell, speaker.post, state))
    return Workers(*talkers, recorder, background, history_writer, model_manager, controls)
