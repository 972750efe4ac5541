"""Sleep between turns while the wake phrase is on: only the phrase is detected, and no other speech
is reported, transcribed or kept.

Invariant: awake while the floor is taken and for some seconds after, so a reply never wakes it.
If the phrase cannot be detected, it stays asleep and never listens openly.
"""

from collections.abc import Callable

from engine.asr.base import SAMPLE_RATE, KeywordSpotter
from engine.audio.base import Pcm
from engine.errors import EngineError
from engine.messages.events import Failed, SleepChanged
from engine.runtime.workers.worker import Tell
from engine.settings import WakeSettings


class WakeGate:
    """Works on the ears' count of samples."""

    def __init__(
        self,
        spotter: Callable[[WakeSettings], KeywordSpotter],
        tell: Tell,
    ) -> None:
        self._make = spotter
        self._tell = tell
        self._settings = WakeSettings()
        self._spotter: KeywordSpotter | None = None
        self._awake_until = 0  # sample
        self.asleep = False

    def use(self, settings: WakeSettings, position: int) -> None:
        """Use this phrase, or none; a fault is reported. Stays awake for a moment, so that a user
        who has just switched it on is heard. The same settings again (the phrase was trained
        meanwhile) wake nothing.
        """
        changed = settings != self._settings
        self._settings, self._spotter = settings, None
        if changed:
            self.wake(position)
        if not settings.on:
            return
        try:
            self._spotter = self._make(settings)
        except EngineError as error:
            self._tell(Failed.of(error))

    def begin_anew(self) -> None:
        """Count samples from 0 again."""
        self._awake_until = 0 if self.asleep else self._stay

    def look(self, position: int, *, hands_free: bool) -> None:
        """Fall asleep when it is time; without `hands_free` it cannot sleep."""
        wanted = self._settings.on and hands_free
        self._be(asleep=wanted and (self.asleep or position >= self._awake_until))

    def find(self, heard: Pcm, *, begins: bool = False) -> int | None:
        """Return how many samples ago the phrase ended, or None. `begins`: this is new speech."""
        if self._spotter is None:
            return None
        if begins:
            self._spotter.reset()
        return self._spotter.push(heard)

    def wake(self, position: int) -> None:
        """Wake up, or stay awake for a while: the floor is taken, or a voice is heard."""
        self._awake_until = position + self._stay
        self._be(asleep=False)

    @property
    def _stay(self) -> int:
        return round(self._settings.stay_awake_s * SAMPLE_RATE)

    def _be(self, *, asleep: bool) -> None:
        if asleep is not self.asleep:
            self.asleep = asleep
            self._tell(SleepChanged(asleep, self._settings.phrase))
