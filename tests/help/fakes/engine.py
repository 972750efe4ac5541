"""A fake engine for tests of the window: it records commands and emits the events that a test
scripts.
"""

import tomllib
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from threading import Event as Flag

from engine import api

READY = (
    api.Ready(api.Part.MICROPHONE, "Built-in microphone"),
    api.Ready(api.Part.LOUDSPEAKER, "Built-in loudspeaker"),
    api.Ready(api.Part.RECOGNISER, "sphinx", "en-us, own language model first"),
    api.Ready(api.Part.LANGUAGE_MODEL, "skills", "built in, no model"),
    api.Ready(api.Part.SYNTHESISER, "espeak", "English (Great Britain)"),
    api.DevicesChanged(
        ("Built-in microphone", "USB headset"), ("Built-in loudspeaker", "USB headset"), "", ""
    ),
    api.VoicesChanged(("English (Great Britain)", "English (America)"), "English (Great Britain)"),
)


class FakeEngine:
    """Emits the events of `script` when it is started. With a `gate`, stop() waits
    until it is set.
    """

    def __init__(
        self,
        settings: api.Settings,
        emit: Callable[[api.Event], None],
        *,
        script: tuple[api.Event, ...] = READY,
        gate: Flag | None = None,
    ) -> None:
        self.settings = settings
        self.emit = emit
        self.commands: list[api.Command] = []
        self.is_started = False
        self.is_stopped = False
        self._script = script
        self._gate = gate

    def start(self) -> None:
        self.is_started = True
        for event in self._script:
            self.emit(event)

    def post(self, command: api.Command) -> None:
        self.commands.append(command)

    def stop(self) -> None:
        if self._gate is not None:
            self._gate.wait(timeout=30)
        self.is_stopped = True
        self.emit(api.Stopped())


def spoken_turn(
    turn: int,
    said: str,
    reply: str,
    *,
    heard: str | None = None,
    ending: api.Ending = api.Ending.COMPLETE,
) -> tuple[api.Event, ...]:
    """Return all events of a finished turn. `heard` None = the entire reply was heard."""
    heard = reply if heard is None else heard
    metrics = api.TurnMetrics(120.0, 180.0, 190.0, 192.0, 240.0, 310.0, 2900.0)
    return (
        api.Heard(turn, said, 0.87, "sphinx"),
        api.PhaseChanged(turn, api.Phase.THINKING),
        api.ReplyDelta(turn, reply),
        api.PhaseChanged(turn, api.Phase.SPEAKING),
        api.TurnEnded(turn, ending, said, reply, heard, reply, metrics),
        api.PhaseChanged(turn, api.Phase.IDLE),
    )


def speaking_turn(turn: int, said: str, reply: str, *, word: str) -> tuple[api.Event, ...]:
    """Return the events of a turn whose reply is being spoken, up to the first occurrence of
    `word`.
    """
    start = reply.index(word)
    return (
        api.Heard(turn, said, 0.87, "sphinx"),
        api.PhaseChanged(turn, api.Phase.THINKING),
        api.ReplyDelta(turn, reply),
        api.PhaseChanged(turn, api.Phase.SPEAKING),
        api.WordHeard(turn, start, start + len(word)),
        api.Levels(-70.0, -18.0),
    )


def lacking_turn(turn: int, said: str) -> tuple[api.Event, ...]:
    """Return the events of a turn that only a language model could have answered."""
    reply = (
        "I can't answer that without a language model. Try: what time is it, or: spell necessary."
    )
    heard, thinking, *rest = spoken_turn(turn, said, reply)
    return (heard, thinking, api.ModelWanted(turn), *rest)


def entry(name: str, title: str, kind: str, **other: object) -> api.ModelEntry:
    """Return the entry of a model that can be fetched, unless `other` changes that."""
    blank = api.ModelEntry(
        name,
        title,
        kind,
        api.Origin.LISTED,
        api.Presence.MISSING,
        licence="MIT",
        attribution="by somebody",
        folder=f"/models/{name}",
    )
    return replace(blank, **other)  # type: ignore[arg-type] # the fields' own types


def _listed() -> Iterator[api.ModelEntry]:
    text = Path(__file__).with_name("models.toml").read_text(encoding="utf-8")
    for each in tomllib.loads(text)["entries"]:
        state = api.Presence(each.pop("state", "missing"))
        yield entry(**each | {"origin": api.Origin(each.get("origin", "listed")), "state": state})


HERE = {"state": api.Presence.COMPLETE}
BUILT_IN = {"origin": api.Origin.BUILT_IN, "folder": "", **HERE}
LIBRARY = (
    api.ModelsListed(
        tuple(_listed()),
        api.Recommendation(
            ("whisper-base", "qwen3-1-7b"),
            1107,
            "Whisper base listens (already here); Qwen 3 1.7B thinks (1.1 GB); the built-in voice"
            " stays.",
        ),
        "4 GB of memory, 2 cores",
    ),
    api.ModelProgress("qwen3-1-7b", api.Activity.FETCHING, 420_000_000, 1_107_409_472),
    api.ModelSettled("whisper-base", api.Translatable("Every file is as it was fetched.")),
)


def measurements(turn: int) -> tuple[api.Event, ...]:
    targets = [4.0] * 12 + [5.5] * 10 + [3.0] * 12
    measured = 3.8
    events = []
    for target in targets:
        measured += (target - measured) * 0.35
        events.append(api.RateMeasured(turn, target, round(measured, 2)))
    return tuple(events)
