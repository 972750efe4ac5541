"""The mood: the state of the assistant in one word, for the orb and the label beside it.

Invariant: no Qt here. During a turn the mood is its phase; at rest it depends on the parts. The
mood is never "listening" before a microphone is open.
"""

from enum import Enum

from app.language import mark
from app.status.parts import Parts
from engine.api import Part, Phase


class Mood(Enum):
    """The moods; the values are the words on the screen."""

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
        """True while nobody speaks and the assistant does not think."""
        return self not in (Mood.LISTENING, Mood.THINKING, Mood.SPEAKING)


_OF_A_TURN = {
    Phase.LISTENING: Mood.LISTENING,
    Phase.THINKING: Mood.THINKING,
    Phase.SPEAKING: Mood.SPEAKING,
}


def mood(phase: Phase, parts: Parts, *, interrupted: bool = False) -> Mood:
    """Return the mood. `interrupted`: the last reply has just been interrupted."""
    if phase is Phase.LISTENING and parts.is_deaf:
        return Mood.STARTING  # the talk key was pressed too soon
    if phase is not Phase.IDLE:
        return _OF_A_TURN[phase]
    if interrupted:
        return Mood.INTERRUPTED
    rest = _at_rest(parts)
    if rest is not Mood.READY:
        return rest
    if parts.is_muted:
        return Mood.MUTED
    return Mood.ASLEEP if parts.is_asleep else Mood.READY


def _at_rest(parts: Parts) -> Mood:
    """The mood at rest. A missing microphone alone is less serious, because typing works."""
    if parts.failed == (Part.MICROPHONE,):
        return Mood.STARTING if parts.is_starting else Mood.NO_MICROPHONE
    if parts.failed:
        return Mood.ATTENTION
    return Mood.STARTING if parts.is_starting else Mood.READY
