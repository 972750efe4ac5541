"""Fakes of devices, recogniser, language model and voice: small, scripted, quick."""

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Event
from typing import Self

import numpy as np

from engine.asr.base import RecogniserInfo, Transcript
from engine.asr.completeness import Completeness
from engine.audio.base import Pcm, Played
from engine.audio.devices.portaudio import Devices
from engine.audio.echo.canceller import EchoCanceller
from engine.errors import DeviceError, ModelError
from engine.llm.base import AssistantState, Delta, LanguageModelInfo, Message, Role, TextDelta
from engine.messages.events import Event as EngineEvent
from engine.runtime.factories import Factories
from engine.settings import LanguageModelSettings, RecogniserSettings, Settings, SpeechSettings
from engine.tts.base import AudioFrame, Finished, Onset, RateRange, Starved, Step, TtsInfo, Voice
from tests.help.fakes.reading import FakeLibrary

RATE = 16_000  # Hz of everything here


class HandLoudspeaker:
    """A loudspeaker that plays only when play() is called."""

    def __init__(self, name: str = "hand loudspeaker", capacity: int = 10 * RATE) -> None:
        self.name = name
        self.sample_rate = RATE
        self.underruns = 0
        self.latency_s = 0.0
        self.gain = 1.0
        self.samples_written = 0
        self.samples_played = 0
        self.heard: list[Pcm] = []
        self.gone = False
        self.closed = False
        self._ring: list[float] = []
        self._gaps: list[int] = []  # samples of silence behind each of `heard`
        self._capacity = capacity
        self._untaken: list[Pcm] = []
        self._expecting = False

    @property
    def writable(self) -> int:
        return self._capacity - len(self._ring)

    def write(self, pcm: Pcm) -> int:
        if self.gone:
            raise DeviceError("The loudspeaker is gone.")
        taken = min(len(pcm), self.writable)
        self._ring.extend(pcm[:taken].tolist())
        self.samples_written += taken
        return taken

    def play(self, samples: int) -> None:
        """Take `samples` out of the ring buffer; missing ones are silence."""
        out = self._ring[:samples]
        del self._ring[:samples]
        self.samples_played += len(out)
        self.underruns += int(self._expecting and len(out) < samples)
        self.heard.append(np.asarray(out, np.float32) * self.gain)
        self._gaps.append(samples - len(out))
        self._untaken.append(self.heard[-1])

    @property
    def heard_with_gaps(self) -> Pcm:
        """All samples that were heard, and the silence where there were none."""
        gaps = (np.zeros(gap, np.float32) for gap in self._gaps)
        return np.concatenate(
            [each for pair in zip(self.heard, gaps, strict=True) for each in pair]
        )

    def take_played(self) -> Played:
        untaken, self._untaken = self._untaken, []
        return Played(np.concatenate([np.zeros(0, np.float32), *untaken]), RATE, bool(self._ring))

    def expect_more(self, flag: bool) -> None:
        self._expecting = flag

    def take_back(self, samples: int) -> int:
        taken = min(samples, len(self._ring))
        del self._ring[len(self._ring) - taken :]
        self.samples_written -= taken
        return taken

    def cut(self, *, fade_ms: int = 10) -> None:
        self.samples_written -= len(self._ring)
        self._ring.clear()

    def close(self) -> None:
        self.closed = True
        if self.gone:
            raise DeviceError("The loudspeaker is gone.")


class HandMicrophone:
    """A microphone that records the samples passed to hear()."""

    def __init__(self, name: str = "hand microphone") -> None:
        self.name = name
        self.sample_rate = RATE
        self.joins_midway = False
        self.gone = False
        self.closed = False
        self._waiting: list[Pcm] = []

    def hear(self, pcm: Pcm) -> None:
        self._waiting.append(pcm)

    def read(self) -> Pcm:
        if self.gone:
            self.gone = False
            raise DeviceError("The microphone is gone.")
        waiting, self._waiting = self._waiting, []
        return np.concatenate(waiting) if waiting else np.zeros(0, np.float32)

    def close(self) -> None:
        self.closed = True


WORD_SAMPLES = 1_600  # every word of the fake voice lasts a tenth of a second


class FakeSession:
    """Speaks each word as a constant tone whose level is the word's number."""

    def __init__(self, fail_at: int | None) -> None:
        self.rate: float | None = None
        self.rates: list[float | None] = []
        self.paces: list[float] = []  # of the words pushed
        self.words: list[str] = []
        self._said = 0
        self._ended = False
        self._fail_at = fail_at
        self.closed = False

    def push_word(self, text: str, pace: float = 1.0) -> None:
        self.words.append(text)
        self.paces.append(pace)

    def end_input(self) -> None:
        self._ended = True

    def step(self) -> Step:
        if self._said == self._fail_at:
            raise RuntimeError("the fake voice broke")
        if self._said == len(self.words):
            return Finished() if self._ended else Starved()
        sample = self._said * WORD_SAMPLES
        pcm = np.full(WORD_SAMPLES, 0.01 * (self._said + 1), np.float32)
        self._said += 1
        self.rates.append(self.rate)
        return AudioFrame(pcm, sample, (Onset(self._said - 1, sample),), self.rate or 4.0, 4.0)

    def rewind(self, sample: int) -> int | None:
        word = -(-sample // WORD_SAMPLES)
        if word >= self._said:
            return None
        self._said = word
        del self.rates[word:]
        return word * WORD_SAMPLES

    def close(self) -> None:
        self.closed = True

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


# Speaks at once and alike on every machine, with and without a voice pack.
FORMANT = Settings(speech=SpeechSettings(engine="espeak"))


class FakeVoiceModel:
    def __init__(self, *, fail_at: int | None = None, can_clone: bool = False) -> None:
        self.info = TtsInfo("fake", RATE, RateRange(1.0, 7.0), can_clone=can_clone)
        self.sessions: list[FakeSession] = []
        self.fail_at = fail_at
        self.spoke: list[str] = []  # names of the voices sessions were opened with

    def voices(self) -> tuple[Voice, ...]:
        return (Voice("Ada", "fake"), Voice("Bela", "fake"))

    def encode_voice(self, pcm: Pcm, sample_rate: int) -> Voice:
        if not self.info.can_clone:
            raise ModelError("The fake voice cannot clone.")
        level = {"level": np.asarray([np.abs(pcm).max()], np.float32)}
        return Voice("prompt", "fake", tensors=level, metadata={"seconds": "2"})

    def warm(self, voice: Voice) -> None:
        """Nothing to make ready."""

    def open(self, voice: Voice, *, seed: int) -> FakeSession:
        self.spoke.append(voice.name)
        self.sessions.append(FakeSession(self.fail_at))
        return self.sessions[-1]

    def close(self) -> None:
        """Nothing to release."""


class FakeRecognition:
    def __init__(self, recogniser: "FakeRecogniser") -> None:
        self._recogniser = recogniser
        self.samples = 0

    def push(self, pcm: Pcm) -> None:
        self.samples += len(pcm)
        self._recogniser.samples = self.samples

    def partial(self) -> str:
        return self._recogniser.text.split(" ")[0] if self.samples else ""

    def peek(self) -> str:
        return self.partial()

    def interim(self, wanted: Callable[[], bool]) -> Transcript | None:
        transcript = self.finish()
        return transcript if wanted() else None

    def overlapping(self) -> Transcript:
        heard = self.finish()
        return replace(heard, text=self._recogniser.overlapping or heard.text)

    def finish(self) -> Transcript:
        if self._recogniser.broken:
            self._recogniser.broken = False
            raise RuntimeError("the fake recogniser broke")
        return Transcript(self._recogniser.text, 0.9, "fake", self._recogniser.detected)

    def close(self) -> None:
        """Nothing to release."""


class FakeRecogniser:
    """Always recognises `text`, or `overlapping` (if given) for speech during a reply."""

    def __init__(self, text: str = "hello there") -> None:
        self.info = RecogniserInfo("fake", "hears what it is told")
        self.text = text
        self.overlapping = ""
        self.language = ""
        self.detected = ""
        self.broken = False
        self.samples = 0

    def open(self) -> FakeRecognition:
        return FakeRecognition(self)

    def adjust(self, settings: RecogniserSettings) -> None:
        self.language = settings.language

    def close(self) -> None:
        """Nothing to release."""


class FakeLanguageModel:
    """Answers with `deltas`. Exceptions among them are raised, Events are waited for."""

    def __init__(self, *deltas: Delta | Exception | Event | str) -> None:
        self.info = LanguageModelInfo("fake", "says what it is told")
        self.deltas = deltas
        self.histories: list[tuple[Message, ...]] = []  # what was said
        self.instructions: list[list[str]] = []  # system messages
        self.given = 0
        self.settings: LanguageModelSettings | None = None  # None = it was given none
        self.broken: Exception | None = None  # raised instead of getting ready
        self.slices = 0  # it takes to get ready for a question
        self.warmed: list[tuple[str, ...]] = []  # what was said before, for each slice

    def warm(self, history: Sequence[Message]) -> Generator[None, None, None]:
        if self.broken is not None:
            raise self.broken
        for _ in range(self.slices):
            self.warmed.append(tuple(m.text for m in history if m.role is not Role.SYSTEM))
            yield

    def reply(
        self, history: Sequence[Message], state: Callable[[], AssistantState]
    ) -> Generator[Delta, None, None]:
        said = [message for message in history if message.role is not Role.SYSTEM]
        self.histories.append(tuple(said))
        self.instructions.append([each.text for each in history if each.role is Role.SYSTEM])
        for delta in self.deltas:
            if isinstance(delta, Exception):
                raise delta
            if isinstance(delta, Event):
                delta.wait(5.0)
                continue
            self.given += 1
            yield TextDelta(delta) if isinstance(delta, str) else delta

    def adjust(self, settings: LanguageModelSettings) -> None:
        self.settings = settings

    def close(self) -> None:
        """Nothing to release."""


class FakeSpotter:
    """Detects the wake phrase in any sound louder than a person."""

    LOUD = 0.9

    def __init__(self) -> None:
        self.heard = 0  # samples since the last reset
        self.resets = 0

    def push(self, pcm: Pcm) -> int | None:
        self.heard += len(pcm)
        loud = np.flatnonzero(np.abs(pcm) >= self.LOUD)
        return int(len(pcm) - 1 - loud[-1]) if len(loud) else None

    def reset(self) -> None:
        self.heard = 0
        self.resets += 1


class NothingChanges:
    """A DeviceWatch that never reports a change."""

    def poll(self) -> None:
        """See DeviceWatch."""

    def close(self) -> None:
        """Nothing to release."""


@dataclass
class FakeParts:
    """All fakes of one engine, and the factories that return them."""

    model: FakeLanguageModel = field(default_factory=lambda: FakeLanguageModel("Good day to you."))
    voice: FakeVoiceModel = field(default_factory=FakeVoiceModel)
    recogniser: FakeRecogniser = field(default_factory=FakeRecogniser)
    microphones: dict[str, HandMicrophone] = field(
        default_factory=lambda: {"": HandMicrophone("default microphone")}
    )
    loudspeakers: dict[str, HandLoudspeaker] = field(
        default_factory=lambda: {"": HandLoudspeaker("default loudspeaker")}
    )
    spotter: FakeSpotter = field(default_factory=FakeSpotter)
    devices: Devices | None = None
    history: Path | None = None  # the file of conversations
    library: FakeLibrary = field(default_factory=FakeLibrary)
    size_bytes: int = 0  # of every part
    check: Callable[[Settings, str, Devices | None], None] = lambda settings, key, devices: None
    watch_closed: bool = False
    events: list[EngineEvent] = field(default_factory=list)
    loads: list[SpeechSettings] = field(default_factory=list)  # of the voice, since count_loads()

    def count_loads(self) -> list[SpeechSettings]:
        """What the voice is loaded with from now on."""
        self.loads = []
        return self.loads

    def factories(self) -> Factories:
        return Factories(
            microphone=self._microphone,
            loudspeaker=self._loudspeaker,
            canceller=lambda cleaning: EchoCanceller(),
            recogniser=lambda settings, phrases: self.recogniser,
            language_model=lambda settings, progress: self.model,
            synthesiser=self._synthesiser,
            phrases=tuple,
            completeness=lambda settings: lambda text: Completeness.UNSURE,
            devices=self,
            size_bytes=lambda settings: self.size_bytes,
            check=self.check,
            spotter=lambda settings: self.spotter,
            history=self.history,
            open_document=self.library.open,
            shelf=lambda path: self.library.shelf,
        )

    def _microphone(self, name: str) -> HandMicrophone:
        if name not in self.microphones:
            raise DeviceError(f"There is no microphone {name!r}.", hint="Plug one in.")
        return self.microphones[name]

    def _loudspeaker(self, name: str) -> HandLoudspeaker:
        if name not in self.loudspeakers:
            raise DeviceError(f"There is no loudspeaker {name!r}.", hint="Plug one in.")
        return self.loudspeakers[name]

    def _synthesiser(
        self, settings: SpeechSettings, progress: Callable[[str, float | None], None]
    ) -> FakeVoiceModel:
        self.loads.append(settings)
        return self.voice

    def poll(self) -> Devices | None:
        devices, self.devices = self.devices, None
        return devices

    def close(self) -> None:
        self.watch_closed = True
