"""The current parts, voices and devices.

Invariant: holds facts only; opens nothing. Its values are replaced, never modified.
"""

from dataclasses import replace

from engine.languages import ENGLISH
from engine.messages import events
from engine.messages.words import Part
from engine.translatable import joined
from engine.tts import pick

DEVICES = (Part.MICROPHONE, Part.LOUDSPEAKER)  # stop running when they fail
MODELS = frozenset((Part.RECOGNISER, Part.LANGUAGE_MODEL, Part.SYNTHESISER))


class Status:
    """Owned by the conductor."""

    def __init__(self) -> None:
        self.running: dict[Part, str] = {}
        self.loading: frozenset[Part] = frozenset()  # parts that are being loaded
        self.speaking = ""  # the voice of the conversation's language
        self.voice = ""  # that of English
        self.voice_before = ""  # differs from the voice
        self.voices: tuple[str, ...] = ()  # that speak English, as the skills do
        self.languages: tuple[str, ...] = (ENGLISH,)  # that voices speak
        self.about: dict[str, str] = {}  # voice -> how it sounds
        self._can_clone, self._resembles = True, False  # until the voice is known

    def on_loading(self, loading: events.Loading) -> None:
        self.loading |= {loading.part}

    def on_failed(self, fault: events.Failed) -> None:
        if fault.part is not None:
            self.loading -= {fault.part}
        if fault.part in DEVICES:
            self.running = {part: n for part, n in self.running.items() if part is not fault.part}

    def on_ready(self, ready: events.Ready) -> None:
        self.loading -= {ready.part}
        self.running = {**self.running, ready.part: ready.name}

    @property
    def models_ready(self) -> bool:
        """Whether all three models are ready."""
        return self.running.keys() >= MODELS

    def capabilities(self) -> dict[str, str]:
        """Return the running model or device by part."""
        return {part.value: name for part, name in self.running.items()}

    def on_voices(self, known: events.VoicesChanged) -> None:
        languages = dict(zip(known.names, known.languages, strict=False))
        self.voices = tuple(n for n in known.names if languages.get(n, ENGLISH) == ENGLISH)
        self.speaking = known.selected
        voice = next((name for name in known.chosen if name in self.voices), known.selected)
        if self.voice != voice:
            self.voice_before = self.voice
        self.voice = voice
        self.languages = tuple(dict.fromkeys(known.languages)) or (ENGLISH,)
        self.about = dict(zip(known.names, known.about, strict=False))
        self._can_clone, self._resembles = known.can_clone, known.resembles

    def inspected(self, read: events.ClipInspected) -> events.ClipInspected:
        """Return the report about a dropped clip for the user."""
        if self._can_clone:
            return replace(read, resembles=self._resembles)
        advice = [text for text in (read.advice, pick.CANNOT_CLONE) if text]
        needs = (pick.LEARNS, pick.learner_mb())
        return replace(read, advice=joined(advice), resembles=True, needs=needs)

    def learner_mb(self) -> int | None:
        """As AssistantState.learner_mb; looks at the disk."""
        return None if self._can_clone else pick.learner_mb()

    def to_open(self, part: Part, chosen: str, there: tuple[str, ...]) -> str | None:
        """Return the device to open after a change of the list: the chosen one if it came back, the
        default one (empty) if none runs; None = no change.
        """
        running = self.running.get(part)
        if chosen in there and running != chosen:
            return chosen
        return "" if running is None and there else None
