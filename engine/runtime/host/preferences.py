"""The settings in force: every change is checked, applied, reported and saved on one path.

Invariant: a refused setting changes nothing; an accepted change reaches the file, at the latest
when the engine stops.
"""

import logging
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from engine import settings_file
from engine.audio.devices.portaudio import Devices
from engine.audio.echo.canceller import Cleaning
from engine.errors import SettingsError
from engine.messages.events import Event, Failed, Notice, SettingChanged
from engine.messages.words import Part
from engine.runtime.host.status import Status
from engine.runtime.threads import Workers
from engine.runtime.turn.orders import UseDevice
from engine.runtime.turn.reply import LiveControls
from engine.runtime.workers.voice.orders import SelectVoice
from engine.settings import (
    AppliesTo,
    AudioSettings,
    Changes,
    SettingKey,
    Settings,
    change,
    change_all,
    schema,
    setting_of,
    value_of,
)

logger = logging.getLogger(__name__)

SAVE_AFTER_S = 1.0  # a moving slider does not write the file at every step


class Preferences:
    """Holds the settings; acts on the workers when they change."""

    def __init__(
        self,
        settings: Settings,
        path: Path | None,
        workers: Workers,
        emit: Callable[[Event], None],
        check: Callable[[Settings, str, Devices | None], None],
    ) -> None:
        """`check` raises InvalidInput if a changed setting cannot work on this machine."""
        self.settings = settings
        self.devices: Devices | None = None  # connected; None = not known
        self._path = path  # None: nothing is saved (a run with its own settings)
        self._workers = workers
        self._emit = emit
        self._check = check
        self._save_at: float | None = None  # None = the file is up to date, or cannot be written
        self._saved = settings  # the file's settings, as far as this program knows
        self._noted: set[str] = set()

    def load_all(self) -> None:
        """Load every part for the first time."""
        for applies_to, tell in self._ways().items():
            if applies_to is not AppliesTo.VOICE:  # the synthesiser gets it with its settings
                tell()

    def change(self, changes: Changes, now: float, origin: int = 0, *, anew: bool = False) -> None:
        """Change settings of one part, its engine first: they are checked together, and the part
        gets them once. `anew`: also if they are the same, because they mean something else now.
        InvalidInput says what is allowed.
        """
        settings = change_all(self.settings, changes)
        fastest = settings.speech.fastest
        if (settings.speech.rate or 0.0) > fastest:
            settings = change(settings, SettingKey.RATE, fastest)
            changes = tuple(dict([*changes, (SettingKey.RATE, fastest)]).items())
        first = changes[0][0]
        anew = anew or first == SettingKey.WAKE_PHRASE  # which may have been trained meanwhile
        if settings == self.settings and not anew:
            if origin:  # the caller waits for an answer
                self.tell(changes, origin)
            return
        for key, _ in changes:
            self._check(settings, key, self.devices)
        self.settings = settings
        self._save_at = now + SAVE_AFTER_S
        self.tell(changes, origin)
        if act := self._ways().get(setting_of(settings, first).applies_to):
            act()

    def tell(self, changes: Changes, origin: int = 0) -> None:
        """Report the values in force of the settings of `changes` that exist."""
        for key, _ in changes:
            if key in schema(type(self.settings)):
                self._emit(SettingChanged(key, value_of(self.settings, key), origin))

    def reconnect(self, devices: Devices, status: Status) -> None:
        """Reopen the chosen devices that were connected again."""
        self.devices, audio = devices, self.settings.audio
        name = status.to_open(Part.MICROPHONE, audio.microphone, devices.microphones)
        if name is not None and not audio.muted:
            self._workers.ears.post(UseDevice(name))
        name = status.to_open(Part.LOUDSPEAKER, audio.loudspeaker, devices.loudspeakers)
        if name is not None:
            self._workers.speaker.post(UseDevice(name))

    def save_if_due(self, now: float) -> float | None:
        """Write the file when it is time; return the seconds left to wait, None = nothing to do."""
        if self._save_at is None:
            return None
        if now < self._save_at:
            return self._save_at - now
        self.save()
        return None

    def save(self) -> None:
        """Write the file if it is behind. A fault is reported and the settings stay in force."""
        self._save_at = None
        if self._path is None or self.settings == self._saved:
            return
        try:
            notes = settings_file.save(self.settings, self._path, self._saved)
        except SettingsError as error:
            self._emit(Failed.of(error))
            return
        self._saved = self.settings
        for note in notes:
            if note not in self._noted:  # it stays true at every save
                self._noted.add(note)
                self._emit(Notice(note))

    def _ways(self) -> Mapping[AppliesTo, Callable[[], None]]:
        """Return how each receiver gets its current settings, in the order of the start. NOBODY is
        not among them.
        """
        workers, now = self._workers, self.settings
        ears, speaker = workers.ears, workers.speaker
        microphone = UseDevice(now.audio.microphone, closed=now.audio.muted)
        return {
            AppliesTo.CONTROLS: partial(_turn, workers.controls, now),
            AppliesTo.LOUDSPEAKER: partial(speaker.post, UseDevice(now.audio.loudspeaker)),
            AppliesTo.SYNTHESISER: partial(speaker.post, now.speech),
            AppliesTo.VOICE: partial(speaker.post, SelectVoice(now.speech)),
            AppliesTo.MICROPHONE: partial(ears.post, microphone),
            AppliesTo.CLEANING: partial(ears.post, _cleaning(now.audio)),
            AppliesTo.WAKE: partial(ears.post, now.wake),
            AppliesTo.RECOGNISER: partial(ears.post, now.recogniser),
            AppliesTo.LANGUAGE_MODEL: partial(workers.language_model.post, now.language_model),
            AppliesTo.HISTORY: partial(workers.history_writer.post, now.history),
        }


def _turn(controls: LiveControls, settings: Settings) -> None:
    speech = settings.speech
    controls.rate = speech.rate and min(speech.rate, speech.fastest)
    controls.volume = settings.audio.volume
    controls.lead_ms, controls.gives_way = settings.audio.lead_ms, settings.audio.give_way


def _cleaning(audio: AudioSettings) -> Cleaning:
    """The echo matters only with an open microphone during playback."""
    echo = audio.echo_cancellation and audio.hands_free and not audio.headset
    return Cleaning(echo, audio.noise_suppression, audio.gain_control)
