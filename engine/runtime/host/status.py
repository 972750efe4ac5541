"""What is there and what runs: parts, voices, devices.

Invariant: tells facts only; opens nothing. What it hands out is replaced whole, never changed.
"""

from dataclasses import replace

from engine.messages.events import (
    ClipInspected,
    Failed,
    Loading,
    Ready,
    VoicesChanged,
)
from engine.messages.words import Part
from engine.translatable import joined
from engine.tts import pick

DEVICES = (Part.MICROPHONE, Part.LOUDSPEAKER)  # what runs no more once it failed
MODELS = frozenset((Part.RECOGNISER, Part.LANGUAGE_MODEL, Part.SYNTHESISER))


class Status:
    """Kept by the conductor."""

    def __init__(self) -> None:
        self.running: dict[Part, str] = {}
        self.loading: frozenset[Part] = frozenset()  # parts that are being made ready
        self.voice = ""
        self.voice_before = ""  # of another name than the voice
        self.voices: tuple[str, ...] = ()
        self.about: dict[str, str] = {}  # voice -> how it sounds
        self._can_clone, self._resembles = True, False  # until the voice is known

    def loads(self, loading: Loading) -> None:
        self.loading |= {loading.part}

    def failed(self, fault: Failed) -> None:
        if fault.part is not None:
            self.loading -= {fault.part}
        if fault.part in DEVICES:
            self.running = {part: n for part, n in self.running.items() if part is not fault.part}

    def runs(self, ready: Ready) -> None:
        self.loading -= {ready.part}
        self.running = {**self.running, ready.part: ready.name}

    @property
    def models_run(self) -> bool:
        """Whether each of the three models has been made ready."""
        return self.running.keys() >= MODELS

    def capabilities(self) -> dict[str, str]:
        """What runs, by the name of the part."""
        return {part.value: name for part, name in self.running.items()}

    def voices_known(self, known: VoicesChanged) -> None:
        if self.voice != known.selected:
            self.voice_before = self.voice
        self.voices, self.voice = known.names, known.selected
        self.about = dict(zip(known.names, known.about, strict=False))
        self._can_clone, self._resembles = known.can_clone, known.resembles

    def inspected(self, read: ClipInspected) -> ClipInspected:
        """What the person is told of a dropped clip."""
        if self._can_clone:
            return replace(read, resembles=self._resembles)
        advice = [text for text in (read.advice, pick.CANNOT_CLONE) if text]
        needs = (pick.LEARNS, pick.learner_mb())
        return replace(read, advice=joined(advice), resembles=True, needs=needs)

    def learner_mb(self) -> int | None:
        """As Situation.learner_mb; looks at the disk."""
        return None if self._can_clone else pick.learner_mb()

    def to_open(self, part: Part, chosen: str, there: tuple[str, ...]) -> str | None:
        """The device to open now that the list changed: the chosen one when it came back, the
        default one (empty) where nothing runs; None = leave it as it is.
        """
        running = self.running.get(part)
        if chosen in there and running != chosen:
            return chosen
        return "" if running is None and there else None
