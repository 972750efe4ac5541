"""What the assistant is doing, or why it cannot, in a word: the orb and the word beside it.

Invariant: no Qt here. While a turn goes on its phase is told; only at rest, how the parts are.
"""

from dataclasses import dataclass
from enum import Enum

from app.language.words import mark
from app.status.parts import Parts
from engine.api import Part, Phase


class Mood(Enum):
    """The values are shown to the person."""

    STARTING = mark("Getting ready")
    READY = mark("Ready")
    ASLEEP = mark("Asleep")  # shown with the phrase that wakes it
    MUTED = mark("Microphone muted")
    NO_MICROPHONE = mark("No microphone")
    ATTENTION = mark("Needs attention")
    INTERRUPTED = mark("Interrupted")
    LISTENING = mark("Listening")
    THINKING = mark("Thinking")
    SPEAKING = mark("Speaking")

    @property
    def rests(self) -> bool:
        """Nobody speaks and nothing is thought about."""
        return self not in (Mood.LISTENING, Mood.THINKING, Mood.SPEAKING)


_OF_A_TURN = {
    Phase.LISTENING: Mood.LISTENING,
    Phase.THINKING: Mood.THINKING,
    Phase.SPEAKING: Mood.SPEAKING,
}


@dataclass(frozen=True)
class Ears:
    """`asleep`: only the wake phrase is listened for; `muted`: nothing is."""

    asleep: bool = False
    muted: bool = False


def mood(phase: Phase, parts: Parts, ears: Ears, *, interrupted: bool = False) -> Mood:
    """`interrupted`: the last reply was, just now."""
    if phase is not Phase.IDLE:
        return _OF_A_TURN[phase]
    if interrupted:
        return Mood.INTERRUPTED
    rest = _at_rest(parts)
    if rest is not Mood.READY:
        return rest
    if ears.muted:
        return Mood.MUTED
    return Mood.ASLEEP if ears.asleep else Mood.READY


def _at_rest(parts: Parts) -> Mood:
    """The microphone alone is a smaller matter: typing works."""
    if parts.failed == (Part.MICROPHONE,):
        return Mood.STARTING if parts.is_starting else Mood.NO_MICROPHONE
    if parts.failed:
        return Mood.ATTENTION
    return Mood.STARTING if parts.is_starting else Mood.READY
