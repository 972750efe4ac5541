"""When a person has finished speaking: strategies behind one small protocol.

Each looks at the speech so far and says after how long a silence it is finished; the first that can
say decides. A learned model would be one more of them. Invariant: pure; the more complete the words
are, the shorter the silence, with every patience.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Protocol

from engine.asr.completeness import Completeness

PAUSE_MS = 192  # of silence, after which the words are judged and the reply is prepared
ASIDE_MS = 350  # of silence after what was said into a reply: it is paused, and goes on soon
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
    aside: bool = False  # it is said into a reply


class Strategy(Protocol):
    """One way to tell the end of a turn."""

    def silence_ms(self, speech: Speech) -> int | None:
        """How long a silence ends such speech; 0 = it has ended, None = this way cannot tell."""
        ...


class TalkKey:
    """Who holds the key says when they have finished: no silence does."""

    def silence_ms(self, speech: Speech) -> int | None:
        return NEVER_MS if speech.key_held else None


class Length:
    """Who has spoken for too long is answered."""

    def silence_ms(self, speech: Speech) -> int | None:
        return 0 if speech.spoken_s >= LONGEST_S else None


class Aside:
    """What is said into a reply is short, and the reply waits for its end."""

    def silence_ms(self, speech: Speech) -> int | None:
        return ASIDE_MS if speech.aside else None


class Words:
    """The more complete the words, the shorter the silence; `patience` as in the settings."""

    def __init__(self, patience: str) -> None:
        self._silences = _SILENCES[patience]

    def silence_ms(self, speech: Speech) -> int | None:
        return None if speech.completeness is None else self._silences[speech.completeness]


class Silence:
    """So long a silence is an end, whatever was said."""

    def __init__(self, milliseconds: int) -> None:
        self._milliseconds = milliseconds

    def silence_ms(self, speech: Speech) -> int | None:
        return self._milliseconds


def strategies(patience: str) -> tuple[Strategy, ...]:
    """Those in use, the one that is asked first at the front."""
    longest = Silence(max(_SILENCES[patience].values()))
    return (TalkKey(), Length(), Aside(), Words(patience), longest)


def silence_ms(strategies: Sequence[Strategy], speech: Speech) -> int:
    """What the first that can tell says of `speech`."""
    silences = (strategy.silence_ms(speech) for strategy in strategies)
    return next((milliseconds for milliseconds in silences if milliseconds is not None), NEVER_MS)
