"""Orders to the speaker.

Invariant: an order about a reply carries it; one of a reply that has ended changes nothing.
"""

from dataclasses import dataclass

from engine.languages import ENGLISH
from engine.messages.voices import Mix
from engine.runtime.turn.orders import Resume, UseDevice
from engine.runtime.turn.reply import Reply
from engine.settings import SpeechSettings
from engine.text.word import Word


@dataclass(frozen=True)
class SelectVoice:
    """Choose the voices of these settings: that of each language."""

    settings: SpeechSettings


@dataclass(frozen=True)
class SayWords:
    """More words of the reply, in its language; `last`: no more follow."""

    reply: Reply
    words: tuple[Word, ...]
    last: bool = False
    language: str = ENGLISH


@dataclass(frozen=True)
class GetVoiceReady:
    """Prepare the voice for a reply in this language, which will follow."""

    language: str


@dataclass(frozen=True)
class Unsay:
    """Discard the reply's words so far; new ones follow."""

    reply: Reply


PREVIEW = -1  # the turn number of a preview


@dataclass(frozen=True)
class Audition:
    """Speak `words` in any voice, at `rate` (SPS; None = the slider's), as a reply of the turn
    PREVIEW. A running or new reply has priority.
    """

    reply: Reply
    voice: str | Mix
    words: tuple[Word, ...]
    rate: float | None


@dataclass(frozen=True)
class Sound:
    """Start or stop ringing."""

    on: bool


SetUpOrder = SpeechSettings | SelectVoice | UseDevice | GetVoiceReady
SpeechOrder = SetUpOrder | SayWords | Unsay | Resume | Audition | Sound
