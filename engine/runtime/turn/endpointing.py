"""When a person has finished speaking: after how long a silence, by who speaks and what was said.

Invariant: pure; the more complete the words are, the shorter the silence, with every patience.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from engine.asr.completeness import Completeness

PAUSE_MS = 192  # of silence, after which the words are judged and the reply is prepared
OVERLAP_MS = 350  # of silence after what was said into a reply: it is paused, and goes on soon
LONGEST_S = 60.0  # of speech: a television never pauses
NEVER_MS = 24 * 3_600_000

_SETTLED, _WHOLE, _UNSURE, _OPEN = (
    Completeness.SETTLED,
    Completeness.WHOLE,
    Completeness.UNSURE,
    Completeness.OPEN,
)
# Milliseconds. A person who thinks in the middle of a sentence is silent for up to 1.5 s, and is
# not cut off by 'balanced' where the words so far leave something open.
_SILENCES: Mapping[str, Mapping[Completeness, int]] = MappingProxyType(
    {
        "quick": {_SETTLED: 224, _WHOLE: 320, _UNSURE: 512, _OPEN: 1200},
        "balanced": {_SETTLED: 288, _WHOLE: 448, _UNSURE: 1088, _OPEN: 1728},
        "patient": {_SETTLED: 608, _WHOLE: 1200, _UNSURE: 1728, _OPEN: 2592},
    }
)


@dataclass(frozen=True)
class Speech:
    """What is known of somebody who speaks, or has just fallen silent."""

    spoken_s: float = 0.0  # since the utterance was opened; 0 = none is open
    completeness: Completeness | None = None  # of the words before this silence; None = not judged
    key_held: bool = False  # the talk key opened the utterance
    overlapping: bool = False  # it is said into a reply


@dataclass(frozen=True)
class Patience:
    """So long a silence ends an utterance, whatever was said; by the words where they are known."""

    longest_ms: int
    by_words: Mapping[Completeness, int] = field(default_factory=dict)

    @classmethod
    def of(cls, name: str) -> "Patience":
        """As in the settings."""
        return cls(max(_SILENCES[name].values()), _SILENCES[name])

    def silence_ms(self, speech: Speech) -> int:
        """How long a silence ends such speech; 0 = it has ended."""
        if speech.key_held:  # who holds the key says when they have finished
            return NEVER_MS
        if speech.spoken_s >= LONGEST_S:
            return 0
        if speech.overlapping:
            return OVERLAP_MS
        if speech.completeness is None:
            return self.longest_ms
        return self.by_words.get(speech.completeness, self.longest_ms)
