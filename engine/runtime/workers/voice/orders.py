"""What the speaker is told to do.

Invariant: an order about a reply carries it; one of a reply that has ended changes nothing.
"""

from dataclasses import dataclass

from engine.messages.voices import Mix
from engine.runtime.turn.orders import Resume, UseDevice
from engine.runtime.turn.reply import Reply
from engine.settings import SpeechSettings
from engine.text.word import Word


@dataclass(frozen=True)
class SelectVoice:
    name: str  # empty = the synthesiser's default


@dataclass(frozen=True)
class SayWords:
    """More words of the reply; `last`: there are no others."""

    reply: Reply
    words: tuple[Word, ...]
    last: bool = False


@dataclass(frozen=True)
class Unsay:
    """What was to be said of the reply until now is not said; its words begin again."""

    reply: Reply


PREVIEW = -1  # the number that stands for the turn of a preview


@dataclass(frozen=True)
class Audition:
    """Say `words` in a voice that need not be the chosen one, at `rate` (SPS; None = the dial's),
    as a reply of the turn PREVIEW. A reply that goes on, or begins, is said instead.
    """

    reply: Reply
    voice: str | Mix
    words: tuple[Word, ...]
    rate: float | None


@dataclass(frozen=True)
class Sound:
    """Ring, or be silent again."""

    on: bool


Order = SpeechSettings | SelectVoice | UseDevice | SayWords | Unsay | Resume | Audition | Sound
