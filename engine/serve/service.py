"""The engine as the doors share it: speech() for an utterance of a client, `ears` for what it
says, `mind` for an answer.

Invariant: one synthesiser, owned by one thread, speaks for all clients; every utterance has a
session of its own, and its sound does not depend on its neighbours. Nothing of the window's
conversation is in this process. Belongs to one event loop.
"""

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from engine.errors import EngineError, InvalidInput
from engine.runtime.factories import Factories
from engine.runtime.host.say_command import load_synthesiser
from engine.serve.hearing import Ears
from engine.serve.limits import Admission, Limits
from engine.serve.model_thread import ModelThread
from engine.serve.speech import Clock, Opened, Speech, Terms
from engine.serve.thinking import Mind
from engine.settings import Settings
from engine.tts.base import TtsModel, Voice
from engine.tts.voice_lookup import choose, voice_names

log = logging.getLogger(__name__)

OWN_PACE: Final = 4.5  # SPS; about what the voices speak at when nobody asks for a rate


class Service:
    """The voice is loaded by start(), all else when it is needed. What raises EngineErrors here is
    for the client to know. `speeches` are those that are being spoken, by their ids.
    """

    def __init__(
        self,
        settings: Settings,
        factories: Factories,
        limits: Limits | None = None,
        clock: Clock | None = None,
        *,
        name: str = "",
    ) -> None:
        """`name` begins the ids of utterances: several engines tell by it which of them speaks."""
        self.settings = settings
        self.limits = limits or Limits()
        self.clock = clock or Clock()
        self.name = name
        self.ears = Ears(settings.recogniser, factories)
        self.mind = Mind(settings.language_model, factories)
        self.speeches: dict[str, Speech] = {}
        self.admission = Admission(self.limits, self._give_way)
        self._thread = ModelThread(
            "voice of the server", lambda: load_synthesiser(settings.speech, factories)
        )
        self._own = settings.speech.voice  # the person's choice
        self._chosen: dict[str, Voice] = {}  # voices that were made ready, by their names

    async def start(self) -> None:
        """Load the synthesiser and the person's voice. ModelError when it cannot be loaded."""
        await self._thread.call(lambda model: None)
        try:
            await self.check_voice("")
        except EngineError as error:  # of another synthesiser, or its file is gone
            log.warning("%s Until then the synthesiser's own speaks.", error)
            self._own = ""
            await self.check_voice("")

    def stop(self) -> bool:
        """End every utterance and release the models; False when a thread hangs."""
        for speech in self.speeches.values():
            speech.stop()
        ended = (self._thread.stop(), self.ears.stop(), self.mind.stop())
        return all(ended)

    @property
    def own_pace(self) -> float:
        """What a speed of 1 is, in SPS."""
        return self.settings.speech.rate or OWN_PACE

    async def voices(self) -> tuple[str, ...]:
        """Names that speech() understands; the synthesiser's default is the first."""
        return await self._thread.call(voice_names)

    async def check_voice(self, name: str) -> None:
        """InvalidInput for a voice that does not exist."""
        await self._thread.call(lambda model: self._ready(model, name))

    def speech(
        self, voice: str = "", rate: float | None = None, *, longest: int | None = None
    ) -> Speech:
        """An utterance. `voice` empty and `rate` (SPS) None: as the person chose; `longest` is how
        much may be written, in characters (None: as much as one request may hold).
        """
        own = self.settings.speech
        most = self.limits.text if longest is None else longest
        idle_s = self.limits.idle_s
        terms = Terms(voice, own.rate, own.pacing, most, idle_s, self.clock, self.name)
        speech = Speech(terms, self._place)
        speech.rate = rate
        return speech

    @asynccontextmanager
    async def _place(self, speech: Speech) -> AsyncIterator[Opened]:
        async with self.admission.place():
            opened = await self._thread.call(lambda model: self._open(model, speech), _close)
            self.speeches[speech.id] = speech
            try:
                yield opened
            finally:
                del self.speeches[speech.id]
                self._thread.post(opened.session.close)  # after the step that is being made

    def _give_way(self) -> None:
        """Somebody waits: end what is kept from sounding by its own client."""
        for speech in self.speeches.values():
            if speech.late_s > self.limits.late_s:
                speech.stop()

    # ------------------------------------------------------------- on the model's thread

    def _open(self, model: TtsModel, speech: Speech) -> Opened:
        voice = self._ready(model, speech.terms.voice)
        session = model.open(voice, seed=self.settings.speech.seed)
        return Opened(self._thread, session, model.info.sample_rate)

    def _ready(self, model: TtsModel, name: str) -> Voice:
        """The voice of this name, made ready; only names: a path would be read."""
        name = name or self._own
        key = name.casefold()
        if key not in self._chosen:
            names = voice_names(model)
            if name and key not in {each.casefold() for each in names}:
                raise InvalidInput(
                    "There is no voice called '{name}'.",
                    hint="There are: {names}.",
                    name=name[:80],
                    names=", ".join(names),
                )
            voice = choose(model, name)
            model.warm(voice)
            self._chosen[key] = voice
        return self._chosen[key]


def _close(opened: Opened) -> None:
    opened.session.close()
