"""Enumerations for both directions: parts of the loop, phases, endings of a turn."""

from enum import Enum


class Part(Enum):
    """A part of the loop that can load, fail, be replaced, and be named in the status line."""

    MICROPHONE = "microphone"
    LOUDSPEAKER = "loudspeaker"
    RECOGNISER = "recogniser"
    LANGUAGE_MODEL = "language model"
    SYNTHESISER = "synthesiser"


class Phase(Enum):
    """Current state of the assistant."""

    IDLE = "idle"
    LISTENING = "listening"  # the user is speaking, or the talk key is held
    THINKING = "thinking"  # speech has ended, nothing is audible yet
    SPEAKING = "speaking"  # reply samples leave the loudspeaker


class Ending(Enum):
    """How a turn ended, and the interruption if there was one."""

    COMPLETE = "complete"
    INTERRUPTED_BY_SPEECH = "interrupted by speech"
    INTERRUPTED_BY_TALK_KEY = "interrupted by the talk key"
    INTERRUPTED_BY_ESCAPE = "interrupted by Escape"
    INTERRUPTED_BY_STOP = "interrupted by the stop button"  # also a new conversation, and quitting
    INTERRUPTED_BY_TEXT = "interrupted by a typed turn"
    SUPERSEDED = "superseded"  # the user spoke on before the reply was audible
    DEVICE_LOST = "device lost"
    NOTHING_HEARD = "nothing heard"
    FAILED = "failed"

    @property
    def interrupted(self) -> bool:
        """True if the user or a device interrupted the reply."""
        return self not in (Ending.COMPLETE, Ending.NOTHING_HEARD, Ending.FAILED)

    @property
    def by_voice(self) -> bool:
        """True if the user interrupted the reply to say something."""
        return self in (Ending.INTERRUPTED_BY_SPEECH, Ending.INTERRUPTED_BY_TALK_KEY)
