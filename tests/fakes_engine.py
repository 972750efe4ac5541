"""An engine for the window's tests: remembers commands, and says what the test tells it to say."""

from collections.abc import Callable
from pathlib import Path
from threading import Event as Flag

from engine.api import (
    ClipInspected,
    Command,
    DevicesChanged,
    Ending,
    Event,
    Heard,
    Levels,
    Part,
    Phase,
    PhaseChanged,
    RateMeasured,
    Ready,
    ReplyDelta,
    Settings,
    Stopped,
    TurnEnded,
    TurnMetrics,
    VoicesChanged,
    WordHeard,
)

READY = (
    Ready(Part.MICROPHONE, "Built-in microphone"),
    Ready(Part.LOUDSPEAKER, "Built-in loudspeaker"),
    Ready(Part.RECOGNISER, "sphinx", "en-us, own language model first"),
    Ready(Part.LANGUAGE_MODEL, "skills", "built in, no model"),
    Ready(Part.SYNTHESISER, "espeak", "English (Great Britain)"),
    DevicesChanged(
        ("Built-in microphone", "USB headset"), ("Built-in loudspeaker", "USB headset"), "", ""
    ),
    VoicesChanged(("English (Great Britain)", "English (America)"), "English (Great Britain)"),
)


class FakeEngine:
    """Started, it says `script`; `gate` holds stop() up until it is set."""

    def __init__(
        self,
        settings: Settings,
        emit: Callable[[Event], None],
        *,
        script: tuple[Event, ...] = READY,
        gate: Flag | None = None,
    ) -> None:
        self.settings = settings
        self.emit = emit
        self.commands: list[Command] = []
        self.is_started = False
        self.is_stopped = False
        self._script = script
        self._gate = gate

    def start(self) -> None:
        self.is_started = True
        for event in self._script:
            self.emit(event)

    def post(self, command: Command) -> None:
        self.commands.append(command)

    def stop(self) -> None:
        if self._gate is not None:
            self._gate.wait(timeout=30)
        self.is_stopped = True
        self.emit(Stopped())


def spoken_turn(
    turn: int, said: str, reply: str, *, heard: str | None = None, ending: Ending = Ending.COMPLETE
) -> tuple[Event, ...]:
    """All events of a turn that is over; `heard` None = the whole reply."""
    heard = reply if heard is None else heard
    metrics = TurnMetrics(120.0, 180.0, 190.0, 192.0, 240.0, 310.0, 2900.0)
    return (
        Heard(turn, said, 0.87, "sphinx"),
        PhaseChanged(turn, Phase.THINKING),
        ReplyDelta(turn, reply),
        PhaseChanged(turn, Phase.SPEAKING),
        TurnEnded(turn, ending, said, reply, heard, reply, metrics),
        PhaseChanged(turn, Phase.IDLE),
    )


def speaking_turn(turn: int, said: str, reply: str, *, word: str) -> tuple[Event, ...]:
    """A turn whose reply is being spoken and has come to the first occurrence of `word`."""
    start = reply.index(word)
    return (
        Heard(turn, said, 0.87, "sphinx"),
        PhaseChanged(turn, Phase.THINKING),
        ReplyDelta(turn, reply),
        PhaseChanged(turn, Phase.SPEAKING),
        WordHeard(turn, start, start + len(word)),
        Levels(-70.0, -18.0),
    )


def measurements(turn: int) -> tuple[Event, ...]:
    """Three targets and the rates that followed them."""
    targets = [4.0] * 12 + [5.5] * 10 + [3.0] * 12
    measured = 3.8
    events = []
    for target in targets:
        measured += (target - measured) * 0.35
        events.append(RateMeasured(turn, target, round(measured, 2)))
    return tuple(events)


def inspected(clip: Path) -> ClipInspected:
    return ClipInspected(
        clip,
        12.4,
        -21.0,
        -58.0,
        usable=True,
        advice="A good recording. The formant voice cannot clone it; a neural voice can.",
    )
