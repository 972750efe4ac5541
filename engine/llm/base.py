"""The protocol of every language model: a conversation goes in, deltas come out one by one.

Invariant: a reply is a plain iterator; closing it (generator.close()) at any moment cancels the
work between two tokens. Commands to the assistant itself are Action values in the same stream; the
runtime carries them out when they arrive, and they are never spoken.
"""

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Protocol

from engine.messages.commands import ChangeSetting
from engine.messages.events import UseWindow
from engine.messages.models import FetchModels, ModelEntry, UseModel
from engine.messages.timers import TimerCommand, TimerKind
from engine.settings import LanguageModelSettings, Settings
from engine.translatable import Translatable


class Role(Enum):
    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"


@dataclass(frozen=True)
class Message:
    """One entry of the history. An assistant message holds what was heard; `interrupted` says that
    it was cut off there. The text of a `private` one never leaves this computer. `confidence` 0..1
    is how sure the recogniser was of what a person said; typed text has 1.
    """

    role: Role
    text: str
    interrupted: bool = False
    private: bool = False
    confidence: float = field(default=1.0, compare=False)


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
    """More of what the model thinks before it answers: shown, but neither spoken nor kept."""

    text: str


@dataclass(frozen=True)
class Retraction:
    """All text of the reply until here was thought: a tag that says so came late. What was spoken
    of it stops, and none of it is kept.
    """


@dataclass(frozen=True)
class StillLoading:
    """The server has to load its model first, and is asked again."""


@dataclass(frozen=True)
class Remark:
    """What a person should know about the model; told once, however many replies repeat it."""

    text: Translatable


@dataclass(frozen=True)
class Unanswered:
    """No skill knows an answer and there is no language model to ask; the window offers to fetch
    one."""


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
    """Stop what is being said and say nothing."""


@dataclass(frozen=True)
class StartTimer:
    """Say `text` when `seconds` have passed. `label` names it ('tea'), empty when the person gave
    none.
    """

    seconds: float
    label: str
    text: str
    kind: TimerKind = TimerKind.TIMER
    by_clock: bool = False  # for a time of day, wherever the machine is then


@dataclass(frozen=True)
class RememberName:
    """Remember the person's name; an empty name forgets it."""

    name: str


# Called with what is being done to load a model and how far it is (0..1, None = unknown). It is
# called often and may raise Cancelled.
Progress = Callable[[str, float | None], None]

Action = (
    ChangeRate
    | ChangeVolume
    | ChooseVoice
    | StopSpeaking
    | StartTimer
    | TimerCommand
    | RememberName
    | ChangeSetting
    | FetchModels
    | UseModel
    | UseWindow
)
Delta = TextDelta | ThoughtDelta | Retraction | StillLoading | Remark | Unanswered | Action


@dataclass(frozen=True)
class Timer:
    """A timer, for skills that are asked about it. `seconds` is how long it was set for; `number`
    identifies it; `rang`: its time has come, and it was not dismissed; `rings`: it can still
    be heard.
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
class Situation:
    """What a skill may know about the assistant itself right now."""

    rate: float | None  # target SPS; None = own pace
    volume: float  # 0..1
    voice: str
    voices: tuple[str, ...]
    timers: tuple[Timer, ...] = ()
    voice_before: str = ""  # the one before this voice; empty = none
    person: str = ""  # the person's name; empty = unknown
    # Part -> what is loaded, for "what are you running on".
    capabilities: Mapping[str, str] | None = None
    about: Mapping[str, str] | None = None  # voice -> how it sounds ("British woman, clear")
    settings: Settings = field(default_factory=Settings)
    # The models recommended for this machine, of every kind; read from the disk when called.
    offers: Callable[[], tuple[ModelEntry, ...]] = tuple
    # Megabytes to fetch before a recording can become a voice, 0 = the model for it is here; None =
    # the voice model that speaks makes one.
    learner_mb: Callable[[], int | None] = lambda: None
    has_window: bool = True


@dataclass(frozen=True)
class LanguageModelInfo:
    """`name` is the kind ('skills', 'llama', 'server'), `detail` the model in words for the status
    line.
    """

    name: str
    detail: str


class LanguageModel(Protocol):
    """A loaded model or a reachable server. Used from one thread, one reply at a time."""

    @property
    def info(self) -> LanguageModelInfo: ...

    def reply(
        self, history: Sequence[Message], situation: Callable[[], Situation]
    ) -> Generator[Delta, None, None]:
        """Answer the last user message. `situation` is called when (and only when) a skill needs
        it.

        Raises LanguageModelError at any point of the iteration; the next reply works.
        """
        ...

    def warm(self, history: Sequence[Message]) -> Generator[None, None, None]:
        """Prepare for whatever the person says after `history`, a small slice per step; closing it
        keeps what was done so far. Models that gain nothing from this yield nothing.

        Raises LanguageModelError, which the next reply would raise too.
        """
        ...

    def adjust(self, settings: LanguageModelSettings) -> None:
        """Use these settings' system prompt and temperature from the next reply on; they name the
        model that is already loaded.
        """
        ...

    def close(self) -> None: ...
