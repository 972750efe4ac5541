"""Events from the engine to a host."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from engine.errors import EngineError
from engine.languages import ENGLISH
from engine.messages import conversations
from engine.messages.models import ModelEvent
from engine.messages.reading import ReadingEvent
from engine.messages.timers import TimerEvent, TimerKind
from engine.messages.voices import VoiceEvent
from engine.messages.words import Ending, Part, Phase
from engine.translatable import Translatable


@dataclass(frozen=True)
class Loading:
    """A part is being loaded. `fraction` is 0..1, or None if unknown."""

    part: Part
    text: str
    fraction: float | None = None


@dataclass(frozen=True)
class Ready:
    """A part works. `name` is the running model or device, `detail` a phrase for the status line.
    `instead`: a substitute runs, as the chosen one failed and still does. `why`: the reason of an
    automatic choice.
    """

    part: Part
    name: str
    detail: str = ""
    instead: bool = False
    why: str = ""


@dataclass(frozen=True)
class PhaseChanged:
    turn: int
    phase: Phase


@dataclass(frozen=True)
class Levels:
    """Root-mean-square levels in dB full scale (-120..0), about 10 times a second."""

    microphone_db: float
    loudspeaker_db: float


@dataclass(frozen=True)
class PartialTranscript:
    """The transcript so far; replaces the previous one of the same turn."""

    turn: int
    text: str


KEYBOARD = "keyboard"  # the recogniser of a typed turn


@dataclass(frozen=True)
class Heard:
    """The final transcript of the user's utterance. `confidence` is 0..1; typed text has 1 and
    recogniser KEYBOARD.
    """

    turn: int
    text: str
    confidence: float
    recogniser: str


@dataclass(frozen=True)
class ReplyDelta:
    """More of the reply's original text (as written, not as spoken)."""

    turn: int
    text: str


@dataclass(frozen=True)
class Thought:
    """More of the language model's reasoning, shown apart from the reply. It is never spoken or
    saved.
    """

    turn: int
    text: str


@dataclass(frozen=True)
class ReplyRetracted:
    """Discard the reply's text so far: it was reasoning, not the answer. Nothing of it counts as
    heard, and the reply's text begins again.
    """

    turn: int


@dataclass(frozen=True)
class ModelWanted:
    """Only a language model could have answered this turn; a host may offer to set one up."""

    turn: int


@dataclass(frozen=True)
class UseWindow:
    """The user asked for an action of the window: `command` is its name in the window's table of
    commands ("export"), `value` its argument (a settings page, words to search for). A host without
    a window ignores it.
    """

    command: str
    value: str = ""


@dataclass(frozen=True)
class WordHeard:
    """The word at [start, end) of the reply's text begins to be audible now."""

    turn: int
    start: int
    end: int


@dataclass(frozen=True)
class RateMeasured:
    """Speaking rate in SPS since the target changed, without the silence after the speech. `target`
    None = the voice's own pace; `measured` None = too little speech. With `over` the reply has
    ended and `measured` is its mean.
    """

    turn: int
    target: float | None
    measured: float | None
    over: bool = False


@dataclass(frozen=True)
class TurnEnded:
    """The turn is over. `heard` is the part of `reply` that left the loudspeaker; the history keeps
    that part.
    """

    turn: int
    ending: Ending
    said: str
    reply: str
    heard: str
    spoken: str  # the reply as pushed to the synthesiser, word by word
    metrics: conversations.TurnMetrics = field(default_factory=conversations.TurnMetrics)

    @property
    def rejoined(self) -> bool:
        """True if the user continued speaking before the answer. The next turn contains these
        words.
        """
        return self.ending is Ending.SUPERSEDED and not self.said


@dataclass(frozen=True)
class ClipInspected:
    """Properties of a dropped audio file. `usable` says whether it could define a voice, `advice`
    why not. `part`: the inspected part; None = all. `better`: a more suitable part; None = there is
    none, or none is needed. Both as start and length in seconds. `resembles`: the voice would only
    resemble it. `needs`: the model that makes a voice of it, and the megabytes to fetch for that (0
    = it is here); None = the synthesiser that runs does.
    """

    clip: Path
    seconds: float
    level_db: float
    noise_db: float
    usable: bool
    advice: str
    part: tuple[float, float] | None = None
    better: tuple[float, float] | None = None
    resembles: bool = False
    needs: tuple[str, int] | None = None


@dataclass(frozen=True)
class VoicesChanged:
    """The available voices. `selected` speaks the language of the conversation, or is the chosen
    one if none does; `chosen`: the one that speaks each language. `can_clone`: a recording can
    become a voice; `resembles`: that only resembles it. `has_rate`: they support a speaking rate.
    `about` describes each of `names`, in their order; empty = unknown. `languages`: their codes
    (engine/languages.py), in that order.
    """

    names: tuple[str, ...]
    selected: str
    can_clone: bool = False
    has_rate: bool = True
    resembles: bool = False
    about: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    chosen: tuple[str, ...] = ()

    @property
    def alike(self) -> tuple[str, ...]:
        """The names that can be chosen instead of the selected one: those of its language."""
        languages = dict(zip(self.names, self.languages, strict=False))
        language = languages.get(self.selected, ENGLISH)
        return tuple(each for each in self.names if languages.get(each, ENGLISH) == language)


@dataclass(frozen=True)
class DevicesChanged:
    """The available devices; an empty `selected_*` means the system default."""

    microphones: tuple[str, ...]
    loudspeakers: tuple[str, ...]
    selected_microphone: str
    selected_loudspeaker: str


@dataclass(frozen=True)
class SettingChanged:
    """The current value of a setting. `origin`: the number of the change that this answers; 0 =
    none.
    """

    key: str
    value: str | int | float | bool | None
    origin: int = 0


@dataclass(frozen=True)
class SleepChanged:
    """The assistant fell asleep, waiting for its wake phrase, or woke up."""

    asleep: bool
    phrase: str


@dataclass(frozen=True)
class TimerRang:
    """A timer rings; the text is spoken at the next silence."""

    text: str
    number: int = 0
    kind: TimerKind = TimerKind.TIMER


@dataclass(frozen=True)
class Notice:
    """A line for the screen that is not a fault."""

    text: str

    @classmethod
    def of(cls, template: str, /, **values: object) -> Self:
        """Return the notice of a template with these values."""
        return cls(Translatable(template, **values))


@dataclass(frozen=True)
class Failed:
    """A fault, reported once; the engine continues. `turn` is None if it concerns no turn."""

    code: str
    message: str
    hint: str
    turn: int | None = None
    part: Part | None = None

    @classmethod
    def of(cls, error: Exception, part: Part | None = None, turn: int | None = None) -> Self:
        """Return the report of `error`."""
        if not isinstance(error, EngineError):
            hint = Translatable("Please report this.")
            error = EngineError("Something went wrong: {error}", hint=hint, error=error)
        return cls(error.code, error.message, error.hint, turn, part)


@dataclass(frozen=True)
class Stopped:
    """The engine has released everything; no event follows."""


Event = (
    Loading
    | Ready
    | PhaseChanged
    | Levels
    | PartialTranscript
    | Heard
    | ReplyDelta
    | Thought
    | ReplyRetracted
    | WordHeard
    | RateMeasured
    | TurnEnded
    | ClipInspected
    | VoicesChanged
    | DevicesChanged
    | SettingChanged
    | SleepChanged
    | conversations.ConversationsListed
    | conversations.ConversationsChanged
    | conversations.ConversationOpened
    | conversations.ConversationCut
    | conversations.WordReplayed
    | conversations.ReplayEnded
    | Notice
    | TimerRang
    | Failed
    | Stopped
    | VoiceEvent
    | TimerEvent
    | ModelEvent
    | ReadingEvent
    | ModelWanted
    | UseWindow
)
