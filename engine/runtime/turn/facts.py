"""Facts that the engine's threads send to the conductor: one closed union of small values.

Starts and ends of speech are the events of engine.audio.vad, on the engine's clock. Commands and
events of engine.messages take the same way; a fault is a Failed.

Invariant: a fact about a turn carries its number; `at` is seconds on the engine's clock.
"""

from dataclasses import dataclass
from datetime import datetime

from engine.asr.base import Transcript
from engine.asr.completeness import Completeness
from engine.audio.devices.portaudio import Devices
from engine.audio.vad import SpeechEnded, SpeechResumed, SpeechStarted
from engine.export import Conversation
from engine.llm.base import Action
from engine.messages.commands import NewConversation
from engine.messages.events import ReplyRetracted
from engine.messages.reading import Place
from engine.messages.words import Ending
from engine.settings import Changes
from engine.text.word import Word


@dataclass(frozen=True)
class SpeechGoesOn:
    """The user has been speaking for this long, up to the last voiced sample."""

    spoken_ms: int


@dataclass(frozen=True)
class EchoCancelled:
    """Whether the loudspeaker's echo is cancelled from now on."""

    cancels: bool


@dataclass(frozen=True)
class Peeked:
    """The approximate words of the turn: evidence, not for the screen. `wish`: they may become a
    wish about the pace or volume of the running reply.
    """

    turn: int
    text: str
    wish: bool = False


@dataclass(frozen=True)
class InterimTranscript:
    """The words of the turn so far, which are all if the pause at sample `pause` is its end. The
    ears wait as long as these words need, and inform the conductor while the pause lasts.
    """

    turn: int
    pause: int
    transcript: Transcript
    completeness: Completeness
    at: float


@dataclass(frozen=True)
class Transcribed:
    """All words of the turn. `wish`: they were spoken into a reply, or before it, and concern its
    pace or volume.
    """

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
class WordsReady:
    """Words were sent to the speaker."""

    turn: int
    words: tuple[Word, ...]
    at: float


@dataclass(frozen=True)
class ActionAsked:
    turn: int
    action: Action


@dataclass(frozen=True)
class AudioQueued:
    """The first samples of the reply were written to the loudspeaker."""

    turn: int
    at: float


@dataclass(frozen=True)
class ReplyAudible:
    """The first samples of the reply are audible."""

    turn: int
    at: float


@dataclass(frozen=True)
class WordBegan:
    """A word of the reply became audible."""

    turn: int
    word: Word
    at: float


@dataclass(frozen=True)
class Delivery:
    """The audible part of one reply; `onsets_ms`: the position of each word in it. `read`: there
    was no loudspeaker, so all of the text could be read instead.
    """

    words: tuple[Word, ...] = ()
    speech_ms: float = 0.0
    underruns: int = 0
    onsets_ms: tuple[float, ...] = ()
    read: bool = False


@dataclass(frozen=True)
class ReplyEnded:
    """The reply is over; sent by the thread that ended it, unless that is the conductor."""

    turn: int
    ending: Ending


@dataclass(frozen=True)
class VoiceAdopted:
    """A recording has become a voice called `name`; `waits` for the synthesiser that learns it."""

    name: str
    waits: bool = False


@dataclass(frozen=True)
class ReplayAsked:
    """Replay `text`: the reply of turn `of`, from character `start`."""

    text: str
    of: int
    start: int


@dataclass(frozen=True)
class ReadingAsked:
    """Read the open document aloud, as a turn of its own."""


@dataclass(frozen=True)
class SectionBegun:
    """A section of the open document is read from `place` on; its words follow."""

    turn: int
    paragraph: str
    place: Place


@dataclass(frozen=True)
class DocumentEnded:
    """The document has no more words."""

    turn: int


@dataclass(frozen=True)
class ConversationRead:
    """A saved conversation is to continue; `rows` are those of its turns in the file."""

    conversation: int
    kept: Conversation
    rows: tuple[int, ...] = ()


@dataclass(frozen=True)
class Titled:
    """The language model's title of the conversation that `began` then; empty = none."""

    began: datetime
    title: str


@dataclass(frozen=True)
class VoiceMoved:
    """The voice `name` is now called `now`. `name` empty: it is new; `now` empty: it was removed;
    both equal: it was made again.
    """

    name: str
    now: str


@dataclass(frozen=True)
class ModelChosen:
    """A model was chosen: settings of one part, its engine first."""

    changes: Changes


# About a reply; no turn rule uses them.
ReplyFact = ReplyGrew | ReplyRetracted | WordsReady | AudioQueued | WordBegan
LoggedFact = ReplyFact | Transcribed | ReplyAudible  # recorded in the log
# Not about a turn: voices, models, conversations, devices.
HostFact = (
    VoiceMoved
    | VoiceAdopted
    | ModelChosen
    | ConversationRead
    | NewConversation  # the current one was deleted
    | Titled
    | SectionBegun
    | DocumentEnded
    | Devices
)

Fact = (
    SpeechStarted
    | SpeechResumed
    | SpeechEnded
    | SpeechGoesOn
    | EchoCancelled
    | Peeked
    | InterimTranscript
    | Transcribed
    | ActionAsked
    | ReplyAudible
    | ReplyEnded
    | ReplayAsked
    | ReadingAsked
    | ReplyFact
    | HostFact
)
