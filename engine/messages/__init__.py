"""What a host (window, command line) and the engine say to each other: two closed unions of plain
frozen values.

Invariant: every message survives `pickle`, so the engine can move to its own process by replacing
one file. Every message about speech carries the number of its turn; a consumer drops messages of
another turn. Character spans index the reply's original text, times are milliseconds on the
engine's clock, rates are syllables per second (SPS).
"""

from engine.messages.commands import (
    AddVoice,
    CancelClip,
    ChangeSetting,
    Command,
    Export,
    NewConversation,
    PressTalk,
    Record,
    ReleaseTalk,
    SendText,
    SetHandsFree,
    SetRate,
    SetVolume,
    StopReply,
)
from engine.messages.events import (
    ClipInspected,
    DevicesChanged,
    Event,
    Failed,
    Heard,
    Levels,
    Loading,
    Notice,
    PartialTranscript,
    PhaseChanged,
    RateMeasured,
    Ready,
    RecordingChanged,
    ReplyDelta,
    SettingChanged,
    Stopped,
    Thought,
    TurnEnded,
    TurnMetrics,
    VoicesChanged,
    WordHeard,
)
from engine.messages.words import (
    Ending,
    Part,
    Phase,
)

__all__ = [
    "AddVoice",
    "CancelClip",
    "ChangeSetting",
    "ClipInspected",
    "Command",
    "DevicesChanged",
    "Ending",
    "Event",
    "Export",
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
    "Record",
    "RecordingChanged",
    "ReleaseTalk",
    "ReplyDelta",
    "SendText",
    "SetHandsFree",
    "SetRate",
    "SetVolume",
    "SettingChanged",
    "StopReply",
    "Stopped",
    "Thought",
    "TurnEnded",
    "TurnMetrics",
    "VoicesChanged",
    "WordHeard",
]
