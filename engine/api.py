"""The engine as a host sees it: start, post commands, receive events, stop.

Invariant: importing this module imports no torch and opens nothing; models load in the engine's own
threads after start(). `emit` is called from one engine thread, one event at a time, and must not
block.
"""

from collections.abc import Callable

from engine import errors, messages, settings
from engine.errors import EngineError
from engine.messages import (
    AddVoice,
    ChangeSetting,
    ClipInspected,
    Command,
    DevicesChanged,
    Ending,
    Event,
    Failed,
    Heard,
    Levels,
    Loading,
    NewConversation,
    Notice,
    Part,
    PartialTranscript,
    Phase,
    PhaseChanged,
    PressTalk,
    RateMeasured,
    Ready,
    ReleaseTalk,
    ReplyDelta,
    SendText,
    SetHandsFree,
    SetRate,
    SettingChanged,
    SetVolume,
    Stopped,
    StopReply,
    TurnEnded,
    TurnMetrics,
    VoicesChanged,
    WordHeard,
)
from engine.settings import Settings

__all__ = [
    "AddVoice",
    "ChangeSetting",
    "ClipInspected",
    "Command",
    "DevicesChanged",
    "Ending",
    "Engine",
    "EngineError",
    "Event",
    "Failed",
    "Heard",
    "Levels",
    "Loading",
    "NewConversation",
    "Notice",
    "Part",
    "PartialTranscript",
    "Phase",
    "PhaseChanged",
    "PressTalk",
    "RateMeasured",
    "Ready",
    "ReleaseTalk",
    "ReplyDelta",
    "SendText",
    "SetHandsFree",
    "SetRate",
    "SetVolume",
    "SettingChanged",
    "Settings",
    "StopReply",
    "Stopped",
    "TurnEnded",
    "TurnMetrics",
    "VoicesChanged",
    "WordHeard",
    "errors",
    "messages",
    "settings",
]


class Engine:
    """One assistant. start() returns at once; Ready and Failed events tell how loading went."""

    def __init__(self, settings: Settings, emit: Callable[[Event], None]) -> None:
        self._settings = settings
        self._emit = emit

    def start(self) -> None:
        """Create the engine's threads; they load their models and say so."""

    def post(self, command: Command) -> None:
        """Queue a command; never waits, may be called from any thread."""

    def stop(self) -> None:
        """Release devices and models, join every thread; the last event is Stopped."""
