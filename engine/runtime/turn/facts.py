"""What the engine's threads tell the conductor: one closed union of small values.

Who speaks when is told in the events of engine.audio.vad, placed on the engine's clock. Commands
and events of engine.messages travel the same way, and a fault is told as Failed.

Invariant: a fact about a turn carries its number; `at` is seconds on the engine's clock.
"""

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from engine.asr.base import Transcript
from engine.asr.completeness import Completeness
from engine.audio.devices.portaudio import Devices
from engine.audio.vad import SpeechEnded, SpeechResumed, SpeechStarted
from engine.export.conversation import Conversation
from engine.llm.base import Action
from engine.messages.words import Ending
from engine.settings import Value
from engine.text.word import Word


@dataclass(frozen=True)
class SpeechGoesOn:
    """The person has been speaking for so long, up to the last voice."""

    spoken_ms: int


@dataclass(frozen=True)
class EchoCancelled:
    """Whether the echo of the loudspeaker is cancelled from now on."""

    cancels: bool


@dataclass(frozen=True)
class Peeked:
    """A quick look at what is being said in the turn: to weigh, not to show. `wish`: it may become
    a wish about the pace of the reply it is said into.
    """

    turn: int
    text: str
    wish: bool = False


@dataclass(frozen=True)
class InterimTranscript:
    """The words of the turn so far: all of them if the pause at sample `pause` is its end. The
    ears wait as long as these words need, and tell the conductor while the pause lasts.
    """

    turn: int
    pause: int
    transcript: Transcript
    completeness: Completeness
    at: float


@dataclass(frozen=True)
class Transcribed:
    """All that was said in the turn. `wish`: said into a reply, it is about the pace of that."""

    turn: int
    transcript: Transcript
    at: float
    wish: bool = False


@dataclass(frozen=True)
class ReplyGrew:
    """The language model wrote more text; `private` text stays on this computer."""

    turn: int
    text: str
    at: float
    private: bool = False


@dataclass(frozen=True)
class ReplyRetracted:
    """What the language model wrote until now was thought: see the event of that name."""

    turn: int
    at: float


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
class ReplyAudible:
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
class VoiceAdopted:
    """A recording has become a voice called `name`; `waits` for the synthesiser that learns it."""

    name: str
    waits: bool = False


@dataclass(frozen=True)
class ReplayAsked:
    """`text` is to be heard again: the reply of turn `of`, from character `start` on."""

    text: str
    of: int
    start: int


@dataclass(frozen=True)
class ConversationRead:
    """A conversation that was kept is to go on; `rows` are those of its turns in the file."""

    conversation: int
    kept: Conversation
    rows: tuple[int, ...] = ()


@dataclass(frozen=True)
class Titled:
    """The language model's title of the conversation that `began` then; empty = it found none."""

    began: datetime
    title: str


@dataclass(frozen=True)
class ConversationGone:
    """The present conversation was deleted."""


@dataclass(frozen=True)
class VoiceMoved:
    """The voice called `name` is called `now`; `name` empty = it is new, `now` empty = it was
    removed. Both the same = it was made again.
    """

    name: str
    now: str


@dataclass(frozen=True)
class ClipTaken:
    """A clip was recorded to make a voice of."""

    clip: Path


@dataclass(frozen=True)
class ModelChosen:
    """A model is to be used: settings of one part, its engine first."""

    changes: tuple[tuple[str, Value], ...]


# Of a reply: no rule is about it.
Progress = ReplyGrew | ReplyRetracted | WordsReady | AudioQueued | WordBegan
Noted = Progress | Transcribed | ReplyAudible  # in the log

Fact = (
    SpeechStarted
    | SpeechResumed
    | SpeechEnded
    | SpeechGoesOn
    | EchoCancelled
    | Peeked
    | InterimTranscript
    | Transcribed
    | ReplyGrew
    | ReplyRetracted
    | WordsReady
    | ActionAsked
    | AudioQueued
    | ReplyAudible
    | WordBegan
    | ReplyEnded
    | VoiceAdopted
    | VoiceMoved
    | ClipTaken
    | ModelChosen
    | Devices
    | ReplayAsked
    | ConversationRead
    | ConversationGone
    | Titled
)
