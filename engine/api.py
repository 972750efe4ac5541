"""The engine as a host sees it: start, post commands, receive events, stop.

Invariant: importing this module imports no torch and opens nothing; models load in the engine's own
threads after start(). `emit` is called from one engine thread, one event at a time, and must not
block.
"""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

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

if TYPE_CHECKING:
    from engine.runtime.parts import Parts

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
    """One assistant. start() returns at once; Ready and Failed events tell how loading went.

    `settings_path` None: settings are never written. `parts` None: the sound card and what the
    settings name.
    """

    def __init__(
        self,
        settings: Settings,
        emit: Callable[[Event], None],
        *,
        settings_path: Path | None = None,
        parts: "Parts | None" = None,
    ) -> None:
        from engine.runtime.conductor import Conductor  # imports every thread's libraries
        from engine.runtime.parts import standard_parts

        self._conductor = Conductor(parts or standard_parts(), settings, settings_path, emit)

    def start(self) -> None:
        """Create the engine's threads; they load their models and say so."""
        self._conductor.start()

    def post(self, command: Command) -> None:
        """Queue a command; never waits, may be called from any thread."""
        self._conductor.post(command)

    def stop(self) -> None:
        """Release devices and models, join every thread; the last event is Stopped."""
        self._conductor.stop()
