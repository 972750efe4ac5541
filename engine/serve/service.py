"""The engine as the doors share it: speech() for an utterance of a client, `ears` for what it
says, `mind` for an answer.

Invariant: one synthesiser, owned by one thread, speaks for all clients; every utterance has a
session of its own, and its sound does not depend on its neighbours. Everything that a client can
send, hold or wait for has a bound here; places are given first come, first served. Nothing of the
window's conversation is in this process. Belongs to one event loop.
"""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Final

from engine.errors import Busy, EngineError, InvalidInput
from engine.runtime.factories import Factories
from engine.runtime.host.say_command import load_synthesiser
from engine.serve.models import Ears, Mind, ModelThread
from engine.serve.speech import Clock, Speech
from engine.settings import Settings
from engine.tts.base import TtsModel, Voice
from engine.tts.voice_lookup import choose, voice_names

log = logging.getLogger(__name__)

OWN_PACE: Final = 4.5  # SPS; about what the voices speak at when nobody asks for a rate
LOOK_S: Final = 1.0  # how often those who wait look for a place that is not used


@dataclass(frozen=True)
class Limits:
    """`slots`: utterances that are spoken at once; more wait, up to `queue`. Texts in characters,
    times in seconds, `body_bytes` of a request, `message_bytes` of one WebSocket message.
    """

    slots: int = 2
    queue: int = 8
    text: int = 4_096  # of one request, as OpenAI's
    streamed_text: int = 32_768  # of one utterance that is written while it is spoken
    body_bytes: int = 10 << 20
    message_bytes: int = 1 << 20
    body_s: float = 30.0  # for a request to arrive
    idle_s: float = 60.0  # for more words of an utterance, or for a place
    ping_s: float = 20.0  # how often a WebSocket is asked whether it lives, and for its answer
    write_s: float = 15.0  # for a client to read what was sent
    late_s: float = 30.0  # so far behind its own sound, an utterance gives way to those that wait
    retry_s: int = 5  # the answer to those who find the queue full


class Service:
    """The voice is loaded by start(), all else when it is needed. An EngineError raised here is
    for the client to know. `speeches` are those that are being spoken, by their ids; `own_pace` is
    what a speed of 1 is, in SPS.
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
        self.factories = factories
        self.limits = limits or Limits()
        self.clock = clock or Clock()
        self.name = name
        self.own_pace = settings.speech.rate or OWN_PACE
        self.ears = Ears(settings.recogniser, factories)
        self.mind = Mind(settings.language_model, factories)
        self.sample_rate = 0  # Hz of the synthesiser; until start()
        self.speeches: dict[str, Speech] = {}
        self.waiting = 0  # for a place
        self._places = asyncio.Semaphore(self.limits.slots)
        self._thread = ModelThread(
            "voice of the server", lambda: load_synthesiser(settings.speech, factories)
        )
        self._own = settings.speech.voice  # the person's choice
        self._chosen: dict[str, Voice] = {}  # voices that were made ready, by their names

    async def start(self) -> None:
        """Load the synthesiser and the person's voice. ModelError when it cannot be loaded."""
        self.sample_rate = await self._thread.call(lambda model: model.info.sample_rate)
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

    async def voices(self) -> tuple[str, ...]:
        """Names that speech() understands; the synthesiser's default is the first."""
        return await self._thread.call(voice_names)

    async def check_voice(self, name: str) -> None:
        """InvalidInput for a voice that does not exist."""
        await self._thread.call(lambda model: self.voice(model, name))

    def speech(
        self, voice: str = "", rate: float | None = None, *, longest: int | None = None
    ) -> Speech:
        """An utterance. `voice` empty and `rate` (SPS) None: as the person chose; `longest` is how
        much may be written, in characters (None: as much as one request may hold).
        """
        return Speech(self, voice, rate, self.limits.text if longest is None else longest)

    @asynccontextmanager
    async def place(self, speech: Speech) -> AsyncIterator[ModelThread[TtsModel]]:
        """Wait for a place and keep it: the synthesiser's thread. Busy when the queue is full, or
        moves too slowly.
        """
        if self._places.locked() and self.waiting >= self.limits.queue:
            raise self._busy()
        looking = asyncio.ensure_future(self._look())
        self.waiting += 1
        try:
            async with asyncio.timeout(self.limits.idle_s):
                await self._places.acquire()
        except TimeoutError as error:
            raise self._busy() from error
        finally:
            looking.cancel()
            self.waiting -= 1
        self.speeches[speech.id] = speech
        try:
            yield self._thread
        finally:
            del self.speeches[speech.id]
            self._places.release()

    async def _look(self) -> None:
        """Somebody waits: an utterance far behind its own sound, whose client neither reads nor
        writes, ends.
        """
        while True:
            for speech in self.speeches.values():
                if speech.late_s > self.limits.late_s:
                    speech.stop()
            await asyncio.sleep(LOOK_S)

    def _busy(self) -> Busy:
        return Busy(
            "All {count} places are taken.",
            hint="Try again in {seconds} seconds.",
            count=self.limits.slots,
            seconds=self.limits.retry_s,
        )

    # ------------------------------------------------------------- on the model's thread

    def voice(self, model: TtsModel, name: str) -> Voice:
        """The voice of this name, made ready. InvalidInput for all else: a path would be read."""
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
