"""The threads the conductor directs, made, started and stopped together.

Invariant: after stop() no thread of the engine is running unless a library refused to let go, and
then its name is returned.
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from engine.llm.base import Situation
from engine.messages.events import Event
from engine.runtime.factories import Factories
from engine.runtime.turn.dials import Dials
from engine.runtime.turn.facts import Fact
from engine.runtime.workers.actor import Actor
from engine.runtime.workers.background import Background
from engine.runtime.workers.ears.ears import Ears
from engine.runtime.workers.historian import Historian
from engine.runtime.workers.librarian import Librarian
from engine.runtime.workers.recorder import Overhear, Recorder
from engine.runtime.workers.thinker import Thinker
from engine.runtime.workers.voice.speaker import Speaker
from engine.settings import Settings

logger = logging.getLogger(__name__)

STOP_S = 3.0  # each thread gets this long to finish the step it is in


@dataclass(frozen=True)
class Workers:
    ears: Ears
    thinker: Thinker
    speaker: Speaker
    recorder: Recorder
    background: Background
    historian: Historian
    librarian: Librarian
    dials: Dials  # of the speaker's

    def start(self) -> None:
        for member in self._members().values():
            member.start()

    @property
    def longest_stop_s(self) -> float:
        """How long stop() takes at most."""
        return STOP_S * (len(self._members()) + 2)  # the ears and the librarian have two threads

    def stop(self) -> tuple[str, ...]:
        """Stop all, ears first; returns the names of those that did not end in time."""
        return tuple(name for name, member in self._members().items() if not _ended(name, member))

    def _members(self) -> dict[str, Actor[Any]]:
        return {name: each for name, each in vars(self).items() if isinstance(each, Actor)}


def _ended(name: str, member: Actor[Any]) -> bool:
    """Stop one; whatever its part raises while closing must not keep the others running."""
    try:
        return member.stop(STOP_S)
    except Exception:
        logger.exception("could not release name=%s", name)
        return True


def assemble(
    factories: Factories,
    settings: Settings,
    tell: Callable[[Fact | Event], None],
    situation: Callable[[], Situation],
    in_force: Callable[[], Settings],
) -> Workers:
    """Workers for these settings, not yet started; `in_force` tells the settings of later on."""
    dials = Dials(lead_ms=settings.audio.lead_ms, rate=settings.speech.rate)
    dials.volume = settings.audio.volume
    speaker = Speaker(factories, tell, dials)
    ears = Ears(factories, tell, dials)
    thinker = Thinker(factories, tell, speaker.post, situation)
    recorder = Recorder(tell, lambda sink: ears.post(Overhear(sink)))
    background = Background(factories, tell, speaker.voice)
    historian = Historian(factories.history, tell)
    librarian = Librarian(tell, in_force)
    talkers = (ears, thinker, speaker)
    return Workers(*talkers, recorder, background, historian, librarian, dials)
