"""The words both directions use: the parts of the loop, what it is doing, how a turn ended."""

from enum import Enum


class Part(Enum):
    """A part of the loop that can load, fail, be replaced, and be named in the status line."""

    MICROPHONE = "microphone"
    LOUDSPEAKER = "loudspeaker"
    RECOGNISER = "recogniser"
    LANGUAGE_MODEL = "language model"
    SYNTHESISER = "synthesiser"


class Phase(Enum):
    """What the assistant is doing now."""

    IDLE = "idle"
    LISTENING = "listening"  # the person is speaking, or talk is held
    THINKING = "thinking"  # speech has ended, nothing audible yet
    SPEAKING = "speaking"  # reply samples leave the loudspeaker


class Ending(Enum):
    """How a turn ended, and what broke it off if something did."""

    COMPLETE = "complete"
    INTERRUPTED_BY_SPEECH = "interrupted by speech"
    INTERRUPTED_BY_TALK_KEY = "interrupted by the talk key"
    INTERRUPTED_BY_ESCAPE = "interrupted by Escape"
    INTERRUPTED_BY_STOP = "interrupted by the stop button"  # also a new conversation, and quitting
    INTERRUPTED_BY_TEXT = "interrupted by a typed turn"
    SUPERSEDED = "superseded"  # the person spoke on before the reply could be heard
    DEVICE_LOST = "device lost"
    NOTHING_HEARD = "nothing heard"
    FAILED = "failed"

    @property
    def interrupted(self) -> bool:
        """Whether the reply was broken off from outside: by the person, or by a device."""
        return self not in (Ending.COMPLETE, Ending.NOTHING_HEARD, Ending.FAILED)
