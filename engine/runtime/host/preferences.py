"""The settings in force: every change is checked, acted upon, told and saved on one path.

Invariant: a setting that was refused changes nothing; a change that was accepted reaches the file,
at the latest when the engine stops.
"""

import logging
from collections.abc import Callable, Sequence
from pathlib import Path

from engine import settings_file
from engine.audio.devices.portaudio import Devices
from engine.audio.echo.canceller import Cleaning
from engine.errors import SettingsError
from engine.messages.events import Event, Failed, Notice, SettingChanged
from engine.runtime.host.status import Reconnection
from engine.runtime.threads import Workers
from engine.runtime.turn.orders import UseDevice
from engine.runtime.workers.voice.orders import SelectVoice
from engine.settings import AudioSettings, Settings, Value, change, keys, value_of

logger = logging.getLogger(__name__)

SAVE_AFTER_S = 1.0  # a slider that is being pulled does not write the file at every step


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
        """`check` raises InvalidInput when a changed setting cannot work on this machine."""
        self.settings = settings
        self.devices: Devices | None = None  # connected; None = not known
        self._path = path  # None: nothing is saved (a run with settings of its own)
        self._workers = workers
        self._emit = emit
        self._check = check
        self._save_at: float | None = None  # None = the file holds what is in force, or cannot
        self._saved = settings  # what is in force by the file, as far as this program knows
        self._noted: set[str] = set()

    def load_all(self) -> None:
        """Give every thread its part for the first time."""
        workers, settings = self._workers, self.settings
        workers.speaker.post(UseDevice(settings.audio.loudspeaker))
        workers.speaker.post(settings.speech)
        workers.ears.post(_microphone(settings.audio))
        workers.ears.post(_cleaning(settings.audio))
        workers.ears.post(settings.recogniser)
        workers.ears.post(settings.wake)
        workers.thinker.post(settings.language_model)
        workers.historian.post(settings.history)

    def change(self, key: str, value: Value, now: float) -> None:
        """Change one setting and act on it. InvalidInput says what is allowed."""
        settings = change(self.settings, key, value)
        if settings == self.settings:
            if key == "wake.phrase":  # said again, for it was taught meanwhile
                self._act(key)
            return
        self._check(settings, key, self.devices)
        self.settings = settings
        self._save_at = now + SAVE_AFTER_S
        self._emit(SettingChanged(key, value_of(settings, key)))
        self._act(key)

    def choose(self, changes: Sequence[tuple[str, Value]], now: float) -> None:
        """Change settings of one part, its engine first: judged together, and loaded once, also
        where the same settings mean another model now. InvalidInput says what is not allowed.
        """
        settings = self.settings
        for key, value in changes:
            settings = change(settings, key, value)
        for key, _ in changes:
            self._check(settings, key, self.devices)
        self.settings = settings
        self._save_at = now + SAVE_AFTER_S
        for key, _ in changes:
            self.tell(key)
        self._act(changes[0][0])

    def tell(self, key: str) -> None:
        """Tell the value in force, where there is such a setting."""
        if key in keys():
            self._emit(SettingChanged(key, value_of(self.settings, key)))

    def reconnect(self, again: Reconnection) -> None:
        """Open devices again that came back."""
        if again.microphone is not None and not self.settings.audio.muted:
            self._workers.ears.post(UseDevice(again.microphone))
        if again.loudspeaker is not None:
            self._workers.speaker.post(UseDevice(again.loudspeaker))

    def save_if_due(self, now: float) -> float | None:
        """Write the file when it is time; returns seconds left to wait, None = nothing to do."""
        if self._save_at is None:
            return None
        if now < self._save_at:
            return self._save_at - now
        self.save()
        return None

    def save(self) -> None:
        """Write the file if it is behind; a fault is told and the settings stay in force."""
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

    def _act(self, key: str) -> None:
        """What follows from a change; keys of the window and of the floor need nothing here."""
        workers, settings = self._workers, self.settings
        match key.split("."):
            case ["audio", name]:
                self._act_on_audio(name)
            case ["recogniser", _]:
                workers.ears.post(settings.recogniser)
            case ["wake", _]:
                workers.ears.post(settings.wake)
            case ["language_model", _]:
                workers.thinker.post(settings.language_model)
            case ["history", _]:
                workers.historian.post(settings.history)
            case ["speech", name]:
                self._act_on_speech(name)

    def _act_on_audio(self, name: str) -> None:
        workers, audio = self._workers, self.settings.audio
        match name:
            case "microphone" | "muted":
                workers.ears.post(_microphone(audio))
            case "loudspeaker":
                workers.speaker.post(UseDevice(audio.loudspeaker))
            case _:
                workers.dials.volume = audio.volume
                workers.dials.lead_ms = audio.lead_ms
                workers.ears.post(_cleaning(audio))

    def _act_on_speech(self, name: str) -> None:
        speaker, speech = self._workers.speaker, self.settings.speech
        match name:
            case "rate":
                self._workers.dials.rate = speech.rate
            case "pacing":
                pass  # goes with the next reply
            case "voice":
                speaker.post(SelectVoice(speech.voice))
            case _:
                speaker.post(speech)


def _microphone(audio: AudioSettings) -> UseDevice:
    return UseDevice(audio.microphone, closed=audio.muted)


def _cleaning(audio: AudioSettings) -> Cleaning:
    """The echo matters only to somebody who listens while the loudspeaker can be heard."""
    echo = audio.echo_cancellation and audio.hands_free and not audio.headset
    return Cleaning(echo, audio.noise_suppression, audio.gain_control)
