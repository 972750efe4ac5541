"""What can happen to an engine, in any order and any phase: commands, settings, faults and late
reports; and what must be so whatever happened.

Every turn ends once, quiet returns, the next question is answered, and nothing is left over.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import reduce
from pathlib import Path

import numpy as np
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from engine import api
from engine.asr.base import Transcript
from engine.asr.completeness import Completeness
from engine.audio import vad
from engine.audio.base import Pcm
from engine.audio.devices.portaudio import Devices
from engine.errors import LanguageModelError, ModelError, RecogniserError, SynthesisError
from engine.llm.base import ChangeRate, ChooseVoice, StartTimer, StopSpeaking
from engine.messages.events import Event, Failed, PhaseChanged, Stopped, TurnEnded
from engine.messages.words import Ending, Part, Phase
from engine.runtime.conductor import Conductor
from engine.runtime.factories import Factories
from engine.runtime.turn import facts as h
from engine.settings import (
    AudioSettings,
    Choice,
    Flag,
    Range,
    Settings,
    Value,
    keys,
    schema,
    value_of,
)
from tests.help.fakes.parts import FakeLanguageModel, FakeParts

LOUD = 0.3  # of a voice
LONG = ("One two three four five six seven eight nine ten ",) * 5
REPLIES: tuple[tuple[object, ...], ...] = (
    ("Good day to you.",),
    LONG,
    LONG,
    LONG,
    ("",),
    (),
    ("Slower it is.", ChangeRate(by=-0.5)),
    (StartTimer(0.4, "tea", "Your tea is ready."), "A timer."),
    (ChooseVoice("Bela"), "Now I am Bela."),
    (ChooseVoice("Nobody"), "Am I?"),
    (StopSpeaking(),),
    ("I was going to", LanguageModelError("The server went away.")),
    (RuntimeError("the library broke"),),
)


class LevelVad:
    """Takes what is loud for a voice."""

    def __init__(self) -> None:
        self._rest: Pcm = np.zeros(0, np.float32)

    def reset(self) -> None:
        self._rest = np.zeros(0, np.float32)

    def push(self, pcm: Pcm) -> list[float]:
        pending = np.concatenate([self._rest, pcm])
        whole = len(pending) // vad.WINDOW * vad.WINDOW
        self._rest = pending[whole:]
        windows = pending[:whole].reshape(-1, vad.WINDOW)
        return [1.0 if np.abs(window).mean() > 0.1 else 0.0 for window in windows]


class BrittleParts(FakeParts):
    """Factories that may refuse to load."""

    refuses: Part | None = None

    def factories(self) -> Factories:
        good = super().factories()

        def refusing(part: Part, load: Callable[..., object]) -> Callable[..., object]:
            def loading(*arguments: object) -> object:
                if self.refuses is part:
                    self.refuses = None
                    raise ModelError(f"The {part.value} does not load.")
                return load(*arguments)

            return loading

        return replace(
            good,
            recogniser=refusing(Part.RECOGNISER, good.recogniser),
            language_model=refusing(Part.LANGUAGE_MODEL, good.language_model),
            synthesiser=refusing(Part.SYNTHESISER, good.synthesiser),
        )


class Trial:
    """An engine on a parts, and everything it said."""

    def __init__(
        self, parts: BrittleParts, folder: Path, *, hands_free: bool, headset: bool
    ) -> None:
        self.folder = folder
        self.parts = parts
        self.parts.model = FakeLanguageModel(*LONG)
        self.events: list[Event] = []
        self.speaks = False  # the person
        audio = AudioSettings(hands_free=hands_free, headset=headset)
        self.conductor = Conductor(
            parts.factories(), Settings(audio=audio), folder / "settings.toml", self.keep
        )

    def keep(self, event: Event) -> None:
        self.events.append(event)

    def post(self, message: object) -> None:
        self.conductor.post(message)

    @property
    def idle(self) -> bool:
        """Whether nothing goes on and nothing is to come."""
        floor = self.conductor._floor
        timers = [each for each in self.conductor._timers.timers if each.rang_at is None]
        return floor.phase is Phase.IDLE and not floor.waiting and not timers

    def ended(self) -> Counter[int]:
        return Counter(event.turn for event in self.events if isinstance(event, TurnEnded))

    def repair(self) -> None:
        """The person lets go, and all that was broken is whole again, but for the loudspeaker."""
        self.speaks = False
        self.parts.voice.fail_at = None
        self.parts.refuses = None
        self.parts.model.deltas = ("Good day to you.",)
        self.post(api.ReleaseTalk())

    def answered(self) -> bool:
        """Whether the last turn was answered and heard to its end."""
        last = [event for event in self.events if isinstance(event, TurnEnded)][-1]
        return (last.ending, last.heard) == (Ending.COMPLETE, "Good day to you.")

    def check(self) -> None:
        """Of what was said from the start to the end."""
        begun = {
            event.turn
            for event in self.events
            if isinstance(event, PhaseChanged) and event.phase is not Phase.IDLE
        }
        ended = self.ended()
        replays = sum(isinstance(event, api.ReplayEnded) for event in self.events)
        assert set(ended) <= begun
        assert len(begun) - len(ended) == replays
        assert set(ended.values()) <= {1}
        assert not [e for e in self.events if isinstance(e, Failed) and e.code == "stalled"]
        assert not [e for e in self.events if isinstance(e, Failed) and e.code == "engine"]
        assert isinstance(self.events[-1], Stopped)


Act = Callable[[Trial], None]


@dataclass(frozen=True)
class Post:
    message: object

    def __call__(self, trial: Trial) -> None:
        trial.post(self.message)


@dataclass(frozen=True)
class Put:
    """From now on an attribute has a value; `path` leads there from the trial."""

    path: str
    value: object

    def __call__(self, trial: Trial) -> None:
        *owners, name = self.path.split(".")
        setattr(reduce(getattr, owners, trial), name, self.value)


SPEAKS, SILENT = Put("speaks", True), Put("speaks", False)  # the person
BREAKS_RECOGNISER = Put("parts.recogniser.broken", True)
REFUSING = [
    Put("parts.refuses", p) for p in (Part.RECOGNISER, Part.LANGUAGE_MODEL, Part.SYNTHESISER)
]
ANSWERING = [Put("parts.model.deltas", reply) for reply in REPLIES]
HEARING = [Put("parts.recogniser.text", t) for t in ("hello there", "", "stop", "slower", "mhm")]


def changing(setting: tuple[str, Value]) -> Act:
    return Post(api.ChangeSetting(*setting))


def losing_microphone(trial: Trial) -> None:
    trial.parts.microphones[""].gone = True


def losing_loudspeaker(trial: Trial) -> None:
    loudspeaker = trial.parts.loudspeakers[""]
    loudspeaker.gone = not loudspeaker.gone


def breaking_voice(trial: Trial) -> None:
    trial.parts.voice.fail_at = 1
    for session in trial.parts.voice.sessions:
        session._fail_at = session._said


def plugging(trial: Trial) -> None:
    trial.parts.devices = Devices(("default microphone",), ("default loudspeaker",))


def exporting(trial: Trial) -> None:
    trial.post(api.Export(trial.folder / f"{len(trial.events)}.json"))


HEARD = Transcript("late words", 0.9, "fake")
REPORTS: tuple[Callable[[int], object], ...] = (
    lambda turn: h.Transcribed(turn, HEARD, 0.0),
    lambda turn: h.InterimTranscript(turn, 0, HEARD, Completeness.WHOLE, 0.0),
    lambda turn: api.PartialTranscript(turn, "late"),
    lambda turn: h.Peeked(turn, "stop"),
    lambda turn: h.ReplyGrew(turn, "late ", 0.0),
    lambda turn: h.ReplyAudible(turn, 0.0),
    lambda turn: h.ReplyEnded(turn, Ending.COMPLETE),
    lambda turn: h.ReplyEnded(turn, Ending.FAILED),
    lambda turn: api.Failed.of(SynthesisError("late"), Part.SYNTHESISER, turn),
    lambda turn: api.Failed.of(RecogniserError("late"), Part.RECOGNISER, turn),
    lambda turn: vad.SpeechEnded(0),
    lambda turn: vad.SpeechResumed(0),
)


@dataclass(frozen=True)
class Late:
    """A report of some turn, perhaps of one that is over or never was."""

    kind: int
    turn: int

    def __call__(self, trial: Trial) -> None:
        floor = trial.conductor._floor
        # A false report of the turn that goes on is a lie, not a late report.
        if self.turn not in (floor.turn, floor.candidate and floor.candidate.turn):
            trial.post(REPORTS[self.kind](self.turn))


TEXTS: dict[str, tuple[Value, ...]] = {
    "audio.microphone": ("", "another"),
    "audio.loudspeaker": ("", "another"),
    "wake.phrase": ("hey rubato", "okay computer"),
    "language_model.model": ("", "a.gguf"),
    "language_model.address": ("http://127.0.0.1:1/v1", "http://127.0.0.1:2/v1"),
    "language_model.system_prompt": ("Be brief.", "Be kind."),
    "recogniser.model": ("", "a folder"),
    "recogniser.language": ("en", "de"),
    "speech.voice": ("Ada", "Bela", "Nobody"),
}


def allowed(key: str) -> tuple[Value, ...]:
    """Some values that the setting may have, or all where they are few."""
    match schema()[key].rule:
        case Choice() as choice:
            return choice.words
        case Range() as span:
            return (value_of(Settings(), key), span.lowest, min(span.highest, 5 + span.lowest))
        case Flag():
            return (True, False)
    return TEXTS.get(key, (value_of(Settings(), key),))


CHANGES = [(key, value) for key in keys() for value in allowed(key)]
UNLOADED = ("audio", "history", "window")
LOADS = [each for each in CHANGES if each[0].partition(".")[0] not in UNLOADED]
REFUSED = [(key, value) for key in keys() for value in (float("nan"), "\0", -1, b"")]
ASKS: st.SearchStrategy[Act] = st.sampled_from(
    [
        Post(api.SendText("hello")),
        Post(api.SendText("hello")),
        Post(api.PressTalk()),
        Post(api.ReleaseTalk()),
        SPEAKS,
        SILENT,
    ]
)
DISTURBANCES: st.SearchStrategy[Act] = st.one_of(
    ASKS,
    st.builds(changing, st.sampled_from(CHANGES)),
    st.builds(changing, st.sampled_from(LOADS)),
    st.builds(changing, st.sampled_from(REFUSED)),
    st.sampled_from(
        [
            Post(api.SendText("slower")),
            Post(api.StopReply(by_escape=True)),
            Post(api.StopReply(by_escape=False)),
            Post(api.NewConversation()),
            Post(api.Replay(1, 0)),
            Post(api.PreviewVoice("Bela", "one two three")),
            Post(api.StopPreview()),
            Post(api.RecordClip(on=True)),
            Post(api.RecordClip(on=False)),
            Post(api.DropClip()),
            Post(api.RemoveVoice("Ada")),
            exporting,
            plugging,
            losing_microphone,
            losing_loudspeaker,
            breaking_voice,
            BREAKS_RECOGNISER,
        ]
    ),
    st.sampled_from(REFUSING),
    st.sampled_from(ANSWERING),
    st.sampled_from(HEARING),
    st.builds(Late, st.integers(0, len(REPORTS) - 1), st.integers(0, 9)),
)
Scene = tuple[Act, int, Act, int, Act, int]


def any_story(moments: st.SearchStrategy[int]) -> st.SearchStrategy[list[Scene]]:
    """Eight to twenty scenes of three acts, each followed by a moment until the next."""
    scene = st.tuples(ASKS, moments, DISTURBANCES, moments, DISTURBANCES, moments)
    return st.lists(scene, min_size=8, max_size=20)


def acts(story: list[Scene]) -> Iterator[tuple[Act, int]]:
    for scene in story:
        yield from zip(scene[::2], scene[1::2], strict=True)  # type: ignore[misc]


# What is tried first.
STEPPED_STORY: list[Scene] = [
    (Post(api.SendText("hello")), 120, changing(("speech.seed", 1)), 3, SILENT, 500),
    (Post(api.SendText("hello")), 120, changing(("speech.engine", "espeak")), 3, plugging, 500),
    (Post(api.PressTalk()), 40, changing(("recogniser.engine", "whisper")), 3, plugging, 3),
    (Post(api.ReleaseTalk()), 500, Post(api.NewConversation()), 0, Late(0, 1), 0),
]
LIVE_STORY: list[Scene] = [
    (Post(api.SendText("hello")), 10, changing(("speech.seed", 1)), 3, losing_loudspeaker, 10),
    (exporting, 1, changing(("speech.engine", "espeak")), 0, Post(api.NewConversation()), 3),
    (SPEAKS, 30, losing_microphone, 3, plugging, 10),
    (Post(api.PressTalk()), 3, changing(("recogniser.engine", "whisper")), 1, plugging, 3),
    (Post(api.ReleaseTalk()), 3, Post(api.StopReply(by_escape=True)), 0, Late(0, 1), 0),
]
SLOW = settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
