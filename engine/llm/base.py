"""The protocol of every language model: a conversation goes in, deltas come out one by one.

Invariant: a reply is a plain iterator; closing it (generator.close()) cancels the work between two
tokens. Commands to the assistant itself are Action values in the same stream: the runtime carries
them out when they arrive, and they are never spoken.
"""

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Protocol

from engine.languages import ENGLISH
from engine.messages.commands import ChangeSetting
from engine.messages.events import UseWindow
from engine.messages.models import FetchModels, ModelEntry, UseModel
from engine.messages.reading import OpenDocument, PauseReading, ReadAloud, SkipReading
from engine.messages.timers import TimerCommand, TimerKind
from engine.settings import LanguageModelSettings, Settings
from engine.translatable import Translatable


class Role(Enum):
    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"


@dataclass(frozen=True)
class Message:
    """One entry of the history. An assistant message holds the heard part of the reply;
    `interrupted`: the reply was cut off there. The text of a `private` message never leaves this
    computer. `confidence` (0..1) is the recogniser's; typed text has 1. `language`: its code, in
    which a user's message is to be answered.
    """

    role: Role
    text: str
    interrupted: bool = False
    private: bool = False
    confidence: float = field(default=1.0, compare=False)
    language: str = ENGLISH


def last_language(history: Sequence[Message]) -> str:
    """Return the language of the last user message; English without one."""
    asked = (each.language for each in reversed(history) if each.role is Role.USER)
    return next(asked, ENGLISH)


@dataclass(frozen=True)
class TextDelta:
    """More text of the reply, of any size, in the order of speaking. Empty text means that the
    model is still working (reading its prompt, waiting for a server); it gives the caller a chance
    to close the reply. One `private` delta, from a file read aloud, makes the whole turn private.
    """

    text: str
    private: bool = False


@dataclass(frozen=True)
class ThoughtDelta:
    """More of the model's reasoning before the answer: shown, but neither spoken nor saved."""

    text: str


@dataclass(frozen=True)
class Retraction:
    """The reply's text so far was reasoning: its speech stops, and none of it is saved."""


@dataclass(frozen=True)
class StillLoading:
    """The server is loading its model; the request is retried."""


@dataclass(frozen=True)
class Remark:
    """A remark about the model for the user; shown once, however many replies repeat it."""

    text: Translatable


@dataclass(frozen=True)
class Unanswered:
    """Neither a skill nor a language model could answer; the window offers to fetch a model."""


@dataclass(frozen=True)
class ChangeRate:
    """Move the target rate by `by` SPS, or to `to` SPS; both None = the voice's own pace."""

    by: float | None = None
    to: float | None = None


@dataclass(frozen=True)
class ChangeVolume:
    """Move the loudspeaker gain by `by` (-1..1), or to `to` (0..1)."""

    by: float | None = None
    to: float | None = None


@dataclass(frozen=True)
class ChooseVoice:
    """Use the voice whose name is closest to `name` from the next utterance on."""

    name: str


@dataclass(frozen=True)
class StopSpeaking:
    """Stop the current speech and say nothing."""


@dataclass(frozen=True)
class StartTimer:
    """Say `text` after `seconds`. `label` names the timer ('tea'); empty = it has no name."""

    seconds: float
    label: str
    text: str
    kind: TimerKind = TimerKind.TIMER
    by_clock: bool = False  # for a time of day, also after a change of the time zone


@dataclass(frozen=True)
class RememberName:
    """Remember the person's name; an empty name forgets it."""

    name: str


@dataclass(frozen=True)
class LearnSound:
    """Say the name `written` as `said` describes it: see engine/text/names."""

    written: str
    said: str


@dataclass(frozen=True)
class ForgetSound:
    """Say a name again as it is read."""

    written: str


ReadingAction = OpenDocument | ReadAloud | PauseReading | SkipReading
Action = (
    ChangeRate
    | ChangeVolume
    | ChooseVoice
    | StopSpeaking
    | StartTimer
    | TimerCommand
    | RememberName
    | LearnSound
    | ForgetSound
    | ChangeSetting
    | FetchModels
    | UseModel
    | UseWindow
    | ReadingAction
)
Mark = ThoughtDelta | Retraction | StillLoading | Remark | Unanswered | Action  # beside the text
Delta = TextDelta | Mark


@dataclass(frozen=True)
class Timer:
    """A timer, for skills that are asked about it. `seconds` is its set duration; `number`
    identifies it; `rang`: its time has come, and it was not dismissed; `rings`: it is still
    audible.
    """

    label: str
    remaining_s: float
    number: int = 0
    kind: TimerKind = TimerKind.TIMER
    seconds: float = 0.0
    paused: bool = False
    rang: bool = False
    rings: bool = False


@dataclass(frozen=True)
class AssistantState:
    """The state of the assistant, as far as skills may use it."""

    rate: float | None  # target SPS; None = own pace
    volume: float  # 0..1
    voice: str  # that of English, as the skills are
    voices: tuple[str, ...]  # that speak English
    languages: tuple[str, ...] = (ENGLISH,)  # that all voices speak
    speaking: str = ""  # the voice of the conversation's language
    timers: tuple[Timer, ...] = ()
    voice_before: str = ""  # the one before this voice; empty = none
    person: str = ""  # the person's name; empty = unknown
    # Part -> what is loaded, for "what are you running on".
    capabilities: Mapping[str, str] | None = None
    about: Mapping[str, str] | None = None  # voice -> its description ("British woman, clear")
    settings: Settings = field(default_factory=Settings)
    # The models recommended for this machine, of every kind; read from the disk when called.
    offers: Callable[[], tuple[ModelEntry, ...]] = tuple
    # Megabytes to fetch before a recording can become a voice, 0 = the model for it is here; None =
    # the voice model that speaks makes one.
    learner_mb: Callable[[], int | None] = lambda: None
    has_window: bool = True
    models_busy: bool = False  # one is being fetched or checked
    reading: str = ""  # the title of the open document; empty = none is open


GetState = Callable[[], AssistantState]
Deltas = Generator[Delta, None, None]


@dataclass(frozen=True)
class LanguageModelInfo:
    """The kind ('skills', 'llama', 'server'), and the model for the status line."""

    name: str
    detail: str


class LanguageModel(Protocol):
    """A loaded model or a reachable server. Used from one thread, one reply at a time."""

    @property
    def info(self) -> LanguageModelInfo: ...

    def reply(self, history: Sequence[Message], state: GetState) -> Deltas:
        """Answer the last user message. `state` is called only when a skill needs it. Raises
        LanguageModelError at any point of the iteration; the next reply works.
        """
        ...

    def warm(self, history: Sequence[Message]) -> Generator[None, None, None]:
        """Prepare for the user's next words after `history`, a small slice per step; closing it
        keeps the work done so far. Raises LanguageModelError, which the next reply would raise too.
        """
        ...

    def adjust(self, settings: LanguageModelSettings) -> None:
        """Use the prompt and temperature of these settings, which name the same model."""
        ...

    def close(self) -> None: ...
