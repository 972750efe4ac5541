"""Commands from a host to the engine."""

from dataclasses import dataclass
from pathlib import Path

from engine.messages.conversations import HistoryCommand, Replay
from engine.messages.models import ModelCommand
from engine.messages.reading import ReadingCommand
from engine.messages.timers import TimerCommand
from engine.messages.voices import VoiceCommand


@dataclass(frozen=True)
class PressTalk:
    """The talk key or button went down; this stops a spoken reply."""


@dataclass(frozen=True)
class ReleaseTalk:
    """The talk key or button went up: the utterance is complete."""


@dataclass(frozen=True)
class SendText:
    """A typed turn. `instead_of`: number of a turn whose question this edits. That turn and all
    later ones leave the conversation; their effects, such as a timer, stay.
    """

    text: str
    instead_of: int | None = None


@dataclass(frozen=True)
class Speak:
    """Speak this text like a timer's text: now, or after the current speech. A `private` text, such
    as the clipboard's, stays on this computer.
    """

    text: str
    private: bool = False


@dataclass(frozen=True)
class StopReply:
    """Stop speaking now; the unheard part is not kept. `by_escape`: the Escape key was used."""

    by_escape: bool = False


@dataclass(frozen=True)
class ChangeSetting:
    """Change one setting by its dotted key, for example 'speech.rate'; applied and saved at once. A
    SettingChanged with the same `origin` answers in any case; 0 = no answer is needed.
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
    """Stop inspecting the file of the last AddVoice; no further event follows."""


@dataclass(frozen=True)
class NewConversation:
    """Start a new conversation without history. `private`: it is not saved."""

    private: bool = False


@dataclass(frozen=True)
class Export:
    """Write the conversation to a file; its suffix selects the format: .txt, .md or .json."""

    path: Path


# Carried out by another part than the conductor.
PassedCommand = (
    AddVoice
    | CancelClip
    | VoiceCommand
    | TimerCommand
    | HistoryCommand
    | ModelCommand
    | ReadingCommand
)
# About the conversation or the settings.
OwnCommand = PressTalk | ReleaseTalk | Speak | StopReply | ChangeSetting | Export | Replay
Command = SendText | NewConversation | OwnCommand | PassedCommand
