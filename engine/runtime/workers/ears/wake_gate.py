"""Sleep between turns, while the assistant is called by name: then only the wake phrase is listened
for, and nothing else that is said is told, transcribed or kept.

Invariant: it is awake while somebody has the floor and for some seconds after, so a reply never
wakes it; where the phrase cannot be listened for it sleeps on, and never listens openly instead.
"""

from collections.abc import Callable

from engine.asr.base import SAMPLE_RATE, KeywordSpotter
from engine.audio.base import Pcm
from engine.errors import EngineError
from engine.messages.events import Event, Failed, SleepChanged
from engine.runtime.turn.facts import Fact
from engine.settings import WakeSettings


class WakeGate:
    """Told on the ears' count of samples."""

    def __init__(
        self,
        spotter: Callable[[WakeSettings], KeywordSpotter],
        tell: Callable[[Fact | Event], None],
    ) -> None:
        self._make = spotter
        self._tell = tell
        self._settings = WakeSettings()
        self._spotter: KeywordSpotter | None = None
        self._awake_until = 0  # sample
        self.asleep = False

    def use(self, settings: WakeSettings, position: int) -> None:
        """Listen for this phrase, or for none; a fault is told. Stays awake for a moment, so that a
        person who has just switched it on is heard. The same settings again (the phrase was taught
        meanwhile) wake nobody.
        """
        changed = settings != self._settings
        self._settings, self._spotter = settings, None
        if changed:
            self.stir(position)
            self._be(asleep=False)
        if not settings.on:
            return
        try:
            self._spotter = self._make(settings)
        except EngineError as error:
            self._tell(Failed.of(error))

    def begin_anew(self) -> None:
        """Samples count from 0 again."""
        self._awake_until = 0 if self.asleep else self._stay

    def stir(self, position: int) -> None:
        """Somebody has the floor, or speaks: awake from here on, for a while."""
        self._awake_until = position + self._stay

    def look(self, position: int, *, hands_free: bool) -> None:
        """Fall asleep when it is time; without `hands_free` there is nothing to be woken for."""
        wanted = self._settings.on and hands_free
        self._be(asleep=wanted and (self.asleep or position >= self._awake_until))

    def begin(self, heard: Pcm) -> int | None:
        """Somebody begins to speak; as find()."""
        if self._spotter is not None:
            self._spotter.reset()
        return self.find(heard)

    def find(self, heard: Pcm) -> int | None:
        """How many samples ago the phrase ended; None = it was not said."""
        return None if self._spotter is None else self._spotter.push(heard)

    def wake(self, position: int) -> None:
        """The phrase was heard: wake up."""
        self.stir(position)
        self._be(asleep=False)

    @property
    def _stay(self) -> int:
        return round(self._settings.stay_awake_s * SAMPLE_RATE)

    def _be(self, *, asleep: bool) -> None:
        if asleep is not self.asleep:
            self.asleep = asleep
            self._tell(SleepChanged(asleep, self._settings.phrase))
