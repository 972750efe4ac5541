"""The wake phrase, for all clients that listen for it.

Invariant: each client has a spotter of its own, and all of them belong to one thread.
"""

from typing import Final

from engine.asr.base import KeywordSpotter
from engine.audio.pcm import Pcm
from engine.errors import Busy
from engine.runtime.factories import Factories
from engine.serve.model_thread import ModelThread
from engine.settings import WakeSettings

MOST: Final = 8  # clients that listen at once


class Wake:
    """stop() ends its thread."""

    def __init__(self, settings: WakeSettings, factories: Factories) -> None:
        self.phrase = settings.phrase
        self._settings = settings
        self._factories = factories
        self._thread = ModelThread("wake phrase of the server")
        self._taken = 0

    async def open(self) -> KeywordSpotter:
        """What listens for the phrase; release() follows. Busy when too many listen, ModelError
        where it cannot be listened for.
        """
        if self._taken >= MOST:
            raise Busy("All {count} places are taken.", count=MOST)
        self._taken += 1
        try:
            return await self._thread.call(lambda: self._factories.spotter(self._settings))
        except BaseException:
            self.release()
            raise

    async def hears(self, spotter: KeywordSpotter, pcm: Pcm) -> bool:
        """Whether the phrase ended in these samples [S] at 16 kHz."""
        return await self._thread.call(lambda: spotter.push(pcm)) is not None

    def release(self) -> None:
        self._taken -= 1

    def stop(self) -> bool:
        """False when its thread hangs."""
        return self._thread.stop(lambda: None)
