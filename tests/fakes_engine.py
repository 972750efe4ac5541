"""An engine for the window's tests: remembers commands, and says what the test tells it to say."""

from collections.abc import Callable
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
    """Started, it says `script`; `gate` holds stop() up until it is set."""

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
    """All events of a turn that is over; `heard` None = the whole reply."""
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
    """A turn whose reply is being spoken and has come to the first occurrence of `word`."""
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
    """A turn that only a language model could have answered."""
    reply = (
        "I can't answer that without a language model. Try: what time is it, or: spell necessary."
    )
    heard, thinking, *rest = spoken_turn(turn, said, reply)
    return (heard, thinking, api.ModelWanted(turn), *rest)


def entry(name: str, title: str, kind: str, **other: object) -> api.ModelEntry:
    """A model that can be fetched, unless told otherwise."""
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


HERE = {"state": api.Presence.COMPLETE}
BUILT_IN = {"origin": api.Origin.BUILT_IN, "folder": "", **HERE}
LIBRARY = (
    api.ModelsListed(
        (
            entry(
                "sphinx", "Sphinx: knows the skills' sentences, English", "recogniser", **BUILT_IN
            ),
            entry(
                "whisper-base",
                "Whisper base: a better recogniser for most machines, in many languages",
                "recogniser",
                megabytes=148,
                megabytes_here=148,
                memory_mb=199,
                in_use=True,
                measured="Whisper has a sentence written 0.6 s after its end.",
                **HERE,
            ),
            entry(
                "whisper-turbo",
                "Whisper large v3 turbo: the fewest words wrong, for a graphics card",
                "recogniser",
                megabytes=1622,
                memory_mb=1083,
            ),
            entry(
                "skills",
                "Built-in skills: no language model, certain answers",
                "language model",
                in_use=True,
                licence="GPL-3.0",
                **BUILT_IN,
            ),
            entry(
                "qwen3-1-7b",
                "Qwen 3 1.7B: answers anything, briefly, also on a small machine",
                "language model",
                megabytes=1107,
                memory_mb=1757,
                licence="Apache-2.0",
            ),
            entry(
                "qwen3-8b",
                "Qwen 3 8B: better answers on a large machine",
                "language model",
                megabytes=5028,
                memory_mb=5678,
                fits=False,
                licence="Apache-2.0",
            ),
            entry(
                "/home/me/mine.gguf",
                "mine.gguf",
                "language model",
                megabytes=700,
                memory_mb=1350,
                origin=api.Origin.ADDED,
                licence="not known here",
                obstacle="It needs llama.cpp: run `make llm` in the program's folder, then start it"
                " again.",
                **HERE,
            ),
            entry(
                "ollama/llama3.2:3b",
                "llama3.2:3b",
                "language model",
                megabytes=2019,
                origin=api.Origin.SERVER,
                licence="not known here",
                attribution="runs in Ollama on this computer",
                **HERE,
            ),
            entry("starter", "Rubato's own voice", "voice", in_use=True, **BUILT_IN),
            entry(
                "voxtream2",
                "VoXtream2, the full-size voice (462 million parameters)",
                "voice",
                megabytes=1854,
                megabytes_here=420,
                memory_mb=3209,
                licence="CC-BY-4.0",
                state=api.Presence.PARTIAL,
            ),
            entry(
                "kokoro",
                "Kokoro, a natural voice for any computer (82 million parameters)",
                "voice",
                megabytes=107,
                memory_mb=628,
                licence="Apache-2.0",
            ),
            entry(
                "mimi", "Mimi, the neural codec VoXtream2 speaks through", "codec", megabytes=385
            ),
        ),
        api.Recommendation(
            ("whisper-base", "qwen3-1-7b"),
            1107,
            "Whisper base listens (already here); Qwen 3 1.7B thinks (1,107 MB); the built-in voice"
            " stays.",
        ),
        "4 GB of memory, 2 cores",
    ),
    api.ModelProgress("qwen3-1-7b", api.Activity.FETCHING, 420_000_000, 1_107_409_472),
    api.ModelSettled("whisper-base", "Every file is as it was fetched."),
)


def measurements(turn: int) -> tuple[api.Event, ...]:
    """Three targets and the rates that followed them."""
    targets = [4.0] * 12 + [5.5] * 10 + [3.0] * 12
    measured = 3.8
    events = []
    for target in targets:
        measured += (target - measured) * 0.35
        events.append(api.RateMeasured(turn, target, round(measured, 2)))
    return tuple(events)


def inspected(clip: Path) -> api.ClipInspected:
    return api.ClipInspected(
        clip,
        12.4,
        -21.0,
        -58.0,
        usable=True,
        advice="A good recording. The formant voice cannot clone it; a neural voice can.",
    )
