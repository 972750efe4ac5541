"""What the engine's threads tell the conductor: one closed union of small values.

Invariant: a happening about speech carries the number of its turn; `at` is seconds on the engine's
clock. Events of engine.messages may travel the same way and are shown as they are.
"""

from dataclasses import dataclass
from pathlib import Path

from engine.asr.base import Transcript
from engine.asr.completeness import Completeness
from engine.audio.clips.clip import ClipReport
from engine.audio.devices.portaudio import Devices
from engine.errors import EngineError
from engine.llm.base import Action
from engine.messages import Ending, Part
from engine.text.word import Word


@dataclass(frozen=True)
class SpeechStarted:
    """The person began to speak; `sample` is where, on the listener's 16 kHz count."""

    sample: int


@dataclass(frozen=True)
class SpeechGoesOn:
    """The person has been speaking for so long, up to the last voice."""

    spoken_ms: int


@dataclass(frozen=True)
class SpeechPaused:
    """The person has been silent for a moment, from `sample` on: they may have finished."""

    sample: int


@dataclass(frozen=True)
class SpeechResumed:
    """They had not."""


@dataclass(frozen=True)
class EchoCancelled:
    """Whether the loudspeaker is taken out of the microphone from now on."""

    cancels: bool


@dataclass(frozen=True)
class SpeechEnded:
    """The person fell silent `at` (the last speech, not the moment it was noticed)."""

    at: float


@dataclass(frozen=True)
class PartialHeard:
    turn: int
    text: str


@dataclass(frozen=True)
class Glanced:
    """A quick look at what is being said in the turn: to weigh, not to show."""

    turn: int
    text: str


@dataclass(frozen=True)
class Drafted:
    """What was said in the turn if the pause that began at sample `pause` is its end."""

    turn: int
    pause: int
    transcript: Transcript
    completeness: Completeness
    at: float


@dataclass(frozen=True)
class Transcribed:
    turn: int
    transcript: Transcript
    at: float


@dataclass(frozen=True)
class ReplyGrew:
    """The language model wrote more text; `private` text stays on this computer."""

    turn: int
    text: str
    at: float
    private: bool = False


@dataclass(frozen=True)
class WordsReady:
    """Words went to the speaker."""

    turn: int
    words: tuple[Word, ...]
    at: float


@dataclass(frozen=True)
class ActionAsked:
    turn: int
    action: Action


@dataclass(frozen=True)
class AudioQueued:
    """The first samples of the reply were handed to the loudspeaker."""

    turn: int
    at: float


@dataclass(frozen=True)
class AudioHeard:
    """The first samples of the reply are in the air."""

    turn: int
    at: float


@dataclass(frozen=True)
class WordBegan:
    """A word of the reply began to be heard."""

    turn: int
    word: Word
    at: float


@dataclass(frozen=True)
class RateHeard:
    turn: int
    target: float | None
    measured: float


@dataclass(frozen=True)
class Delivery:
    """What reached the ear of one reply; `onsets_ms`: after how much of it each word began. `read`:
    there was no loudspeaker, so that all that was written could be read instead.
    """

    words: tuple[Word, ...] = ()
    speech_ms: float = 0.0
    underruns: int = 0
    onsets_ms: tuple[float, ...] = ()
    read: bool = False


@dataclass(frozen=True)
class ReplyEnded:
    """The reply is over, told by who ended it unless that is the conductor."""

    turn: int
    ending: Ending


@dataclass(frozen=True)
class MicrophoneLevel:
    level_db: float
    raw_db: float  # before the loudspeaker was taken out


@dataclass(frozen=True)
class PartFailed:
    """A part failed, in a turn if there is one. Of a reply that could not go on for it ReplyEnded
    follows.
    """

    part: Part
    error: EngineError
    turn: int | None = None


@dataclass(frozen=True)
class VoicesKnown:
    names: tuple[str, ...]
    selected: str
    can_clone: bool


@dataclass(frozen=True)
class VoiceAdopted:
    """A recording has become a voice called `name`."""

    name: str


@dataclass(frozen=True)
class ClipRead:
    """A dropped clip was inspected."""

    clip: Path
    report: ClipReport


@dataclass(frozen=True)
class DevicesFound:
    """The devices there are now."""

    devices: Devices


Progress = ReplyGrew | WordsReady | AudioQueued | WordBegan  # of a reply: noted in the log

Fact = (
    SpeechStarted
    | SpeechGoesOn
    | SpeechPaused
    | SpeechResumed
    | SpeechEnded
    | EchoCancelled
    | PartialHeard
    | Glanced
    | Drafted
    | Transcribed
    | ReplyGrew
    | WordsReady
    | ActionAsked
    | AudioQueued
    | AudioHeard
    | WordBegan
    | RateHeard
    | ReplyEnded
    | MicrophoneLevel
    | PartFailed
    | VoicesKnown
    | VoiceAdopted
    | ClipRead
    | DevicesFound
)
