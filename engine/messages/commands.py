"""What a host asks of the engine."""

from dataclasses import dataclass
from pathlib import Path

from engine.messages.conversations import HistoryCommand, Replay
from engine.messages.models import ModelCommand
from engine.messages.timers import TimerCommand
from engine.messages.voices import VoiceCommand


@dataclass(frozen=True)
class PressTalk:
    """The talk key or button went down; stops a reply that is being spoken."""


@dataclass(frozen=True)
class ReleaseTalk:
    """The talk key or button went up: the utterance is complete."""


@dataclass(frozen=True)
class SendText:
    """A typed turn. `instead_of`: a turn whose question it is, edited: that turn, and what came
    after it, leave the conversation. What was done in them, as a timer that was set, stays.
    """

    text: str
    instead_of: int | None = None


@dataclass(frozen=True)
class Speak:
    """Say this text, as a timer says its own: now, or after what is being said. A `private` text,
    such as the clipboard's, stays on this computer.
    """

    text: str
    private: bool = False


@dataclass(frozen=True)
class StopReply:
    """Stop speaking now; what was not heard is not kept. `by_escape`: asked with that key."""

    by_escape: bool = False


@dataclass(frozen=True)
class ChangeSetting:
    """Change one setting by its dotted key, for example 'speech.rate'; heard and saved at once. A
    SettingChanged with its `origin` answers, whatever came of it; 0 = no answer is awaited.
    """

    key: str
    value: str | int | float | bool | None
    origin: int = 0


@dataclass(frozen=True)
class AddVoice:
    """Inspect an audio file; with the person's `consent` ("I may use this voice") make it a voice
    called `name` (empty: after the file), which speaks the next utterance, or as soon as the
    synthesiser that can make a voice of it speaks. `seconds` from `start_s` on are looked at and
    used; None = to its end.
    """

    clip: Path
    consent: bool = False
    name: str = ""
    start_s: float = 0.0
    seconds: float | None = None


@dataclass(frozen=True)
class CancelClip:
    """Stop looking at the file of the last AddVoice; nothing more is said of it."""


@dataclass(frozen=True)
class NewConversation:
    """Forget the history; the next turn starts afresh. `private`: nothing of it is kept."""

    private: bool = False


@dataclass(frozen=True)
class Export:
    """Write the conversation to a file; its suffix selects the format: .txt, .md or .json."""

    path: Path


Command = (
    PressTalk
    | ReleaseTalk
    | SendText
    | Speak
    | StopReply
    | ChangeSetting
    | AddVoice
    | CancelClip
    | NewConversation
    | Export
    | VoiceCommand
    | TimerCommand
    | Replay
    | HistoryCommand
    | ModelCommand
)
