"""The engine as the doors share it: speak() for an utterance of a client, `ears` for what one says,
`mind` for an answer.

Invariant: one synthesiser, owned by one thread, speaks for all clients; every utterance has a
session of its own, and its sound does not depend on its neighbours. Nothing of the window's
conversation is in this process. Belongs to one event loop.
"""

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Final

from engine.errors import EngineError, InvalidInput
from engine.runtime.factories import Factories
from engine.runtime.host.say_command import load_synthesiser
from engine.serve.admission import Admission
from engine.serve.hearing import Ears
from engine.serve.limits import Limits
from engine.serve.model_thread import ModelThread
from engine.serve.speech import Clock, Speech, Terms
from engine.serve.thinking import Mind
from engine.settings import Settings
from engine.tts.base import TtsModel, TtsSession, Voice
from engine.tts.voice_lookup import choose, voice_names

log = logging.getLogger(__name__)


OWN_PACE: Final = 4.5  # SPS; about what the voices speak at when nobody asks for a rate


@dataclass(frozen=True)
class Wish:
    """How a client wants to be spoken to. `voice` empty and `rate` (SPS) None: as the person chose;
    `text` is how much may be written, in characters (None: as much as one request may hold).
    """

    voice: str = ""
    rate: float | None = None
    text: int | None = None


class Service:
    """Nothing is loaded before start(). What raises EngineErrors here is for the client to know."""

    def __init__(
        self,
        settings: Settings,
        factories: Factories,
        limits: Limits | None = None,
        clock: Clock | None = None,
    ) -> None:
        self.limits = limits or Limits()
        self.settings = settings
        self._factories = factories
        self.clock = clock or Clock()
        self.ears = Ears(settings.recogniser, factories)
        self.mind = Mind(settings.language_model, factories)
        self._thread = ModelThread("voice of the server")
        self._model: TtsModel | None = None  # None = not loaded
        self._own = settings.speech.voice  # the person's choice
        self._chosen: dict[str, Voice] = {}  # voices that were made ready, by their names
        self._speeches: dict[str, Speech] = {}
        self.admission = Admission(self.limits, self._give_way)

    async def start(self) -> None:
        """Load the synthesiser and the person's voice. ModelError when it cannot be loaded."""
        await self._thread.call(self._load)

    def stop(self) -> bool:
        """End every utterance and release the models; False when a thread hangs."""
        for speech in self._speeches.values():
            speech.stop()
        ended = (self._thread.stop(self._release), self.ears.stop(), self.mind.stop())
        return all(ended)

    @property
    def model(self) -> TtsModel:
        """To be called on the service's thread only, but for its info. There must be one."""
        assert self._model is not None, "started"
        return self._model

    @property
    def own_pace(self) -> float:
        """What a speed of 1 is, in SPS."""
        return self.settings.speech.rate or OWN_PACE

    @property
    def speeches(self) -> tuple[Speech, ...]:
        """Those that are being spoken."""
        return tuple(self._speeches.values())

    def speech(self, key: str) -> Speech | None:
        """One that is being spoken; None = there is none (any more) with this id."""
        return self._speeches.get(key)

    async def voices(self) -> tuple[str, ...]:
        """Names that Wish.voice understands; the synthesiser's default is the first."""
        return await self._thread.call(lambda: voice_names(self.model))

    async def check_voice(self, name: str) -> None:
        """InvalidInput for a voice that there is not."""
        await self._thread.call(lambda: self._ready(name))

    @asynccontextmanager
    async def speak(self, wish: Wish) -> AsyncIterator[Speech]:
        """An utterance, once there is a place for it, which it keeps until the block ends. Busy
        when there will be none soon, InvalidInput for a voice that there is not.
        """
        async with self.admission.place():
            session = await self._thread.call(lambda: self._open(wish.voice), _close)
            longest = self.limits.text if wish.text is None else wish.text
            own = self.settings.speech
            terms = Terms(self.limits, longest, own.pacing, self.clock, own.rate)
            speech = Speech(self._thread, session, self.model.info.sample_rate, terms)
            speech.rate = wish.rate
            self._speeches[speech.id] = speech
            try:
                yield speech
            finally:
                del self._speeches[speech.id]
                speech.close()

    # ------------------------------------------------------------- on the model's thread

    def _load(self) -> None:
        self._model = load_synthesiser(self.settings.speech, self._factories)
        try:
            self._ready("")
        except EngineError as error:  # of another synthesiser, or its file is gone
            log.warning("%s Until then the synthesiser's own speaks.", error)
            self._own = ""
            self._ready("")

    def _open(self, name: str) -> TtsSession:
        return self.model.open(self._ready(name), seed=self.settings.speech.seed)

    def _ready(self, name: str) -> Voice:
        """The voice of this name, made ready; only names: a path would be read."""
        name = name or self._own
        key = name.casefold()
        if key not in self._chosen:
            names = voice_names(self.model)
            if name and key not in {each.casefold() for each in names}:
                raise InvalidInput(
                    "There is no voice called '{name}'.",
                    hint="There are: {names}.",
                    name=name[:80],
                    names=", ".join(names),
                )
            voice = choose(self.model, name)
            self.model.warm(voice)
            self._chosen[key] = voice
        return self._chosen[key]

    def _release(self) -> None:
        if self._model is not None:
            self._model.close()
            self._model = None

    # ------------------------------------------------------------------- on the loop

    def _give_way(self) -> None:
        """Somebody waits: end what is kept from sounding by its own client."""
        for speech in self._speeches.values():
            if speech.late_s > self.limits.late_s:
                speech.stop()


def _close(session: TtsSession) -> None:
    session.close()
