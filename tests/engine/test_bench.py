"""The benchmark measures what is there and says why the rest is not measured."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from engine import bench as benchmark
from engine.asr import pick as ears
from engine.asr.base import SAMPLE_RATE, Recogniser, Transcript
from engine.bench import (
    WHEN_IDLE,
    Instruments,
    Row,
    bench,
    hear,
    pick_profile,
    pick_recogniser,
    pick_synthesiser,
)
from engine.errors import ModelError
from engine.runtime.factories import Factories
from engine.runtime.headless.offline_synthesis import Clock
from engine.settings import RecogniserSettings, Settings, SpeechSettings
from engine.translatable import Progress
from engine.tts import pick as speech
from engine.tts.base import TtsModel
from engine.tts.voxtream.files.pick import find_pick
from tests.help.fakes.parts import FakeParts
from tests.help.fakes.tts import FakeTts


class Machine:
    def __init__(self) -> None:
        self.seconds = 0.0
        self.megabytes = 0.0
        self.models: list[FakeTts] = []
        self.published: list[tuple[str, str]] = []
        self.others = 0.0  # share of the machine that other programs take

    def spend(self, text: str, seconds: float = 0.01) -> None:
        self.seconds += seconds

    def memory(self) -> float:
        self.megabytes += 1.0
        return self.megabytes

    def load_published(self, device: str, precision: str) -> TtsModel:
        self.published.append((device, precision))
        slow = 0.5 if precision == "full" else 0.01
        return FakeTts(lambda text: self.spend(text, slow))

    @property
    def gauges(self) -> Instruments:
        clock = Clock(lambda: self.seconds, lambda duration: None)
        return Instruments(self.factories, clock, self.memory, lambda: self.others * self.seconds)

    def synthesiser(self, settings: SpeechSettings, progress: Progress) -> TtsModel:
        self.seconds += 0.5
        self.models.append(FakeTts(self.spend))
        return self.models[-1]

    def recogniser(self, settings: RecogniserSettings, phrases: Sequence[str]) -> Recogniser:
        self.seconds += 0.5
        return FakeParts().factories().recogniser(settings, phrases)

    @property
    def factories(self) -> Factories:
        parts = FakeParts().factories()
        return replace(parts, synthesiser=self.synthesiser, recogniser=self.recogniser)


@pytest.fixture(autouse=True)
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("RUBATO_DATA", str(tmp_path))
    return tmp_path


def test_every_registered_part_has_a_row_with_its_numbers():
    machine, told = Machine(), list[str]()
    rows = bench(Settings(), gauges=machine.gauges, tell=told.append, quick=True)
    assert told[0] == "Measuring the voices ..."
    voices = [row for row in rows if row.part == "synthesiser"]
    ears = [row for row in rows if row.part == "recogniser"]
    # VoXtream2, in two editions, is measured in every precision
    assert len(voices) == len(benchmark.SYNTHESISERS) - 2
    assert machine.published == []
    assert [row.name for row in ears] == list(benchmark.RECOGNISERS)
    first = voices[0]
    assert (first.load_s, first.first_packet_ms, first.memory_mb) == (0.5, 10.0, 1.0)
    assert first.rtf is not None
    assert 0.01 < first.rtf < 0.05
    assert ears[0].rtf == 0.0
    assert all(model.closed for model in machine.models)


def test_a_part_that_is_not_there_has_a_note_instead_of_numbers():
    def refuse(settings: SpeechSettings, progress: Progress) -> TtsModel:
        raise ModelError("Its files are missing.")

    machine = Machine()
    rows = bench(
        Settings(),
        gauges=replace(machine.gauges, factories=replace(machine.factories, synthesiser=refuse)),
        published=machine.load_published,
    )
    assert "Its files are missing." in rows[0].note
    assert rows[0].rtf is None
    assert all("no synthesiser" in row.note for row in rows if row.part == "recogniser")


def test_whisper_is_picked_by_what_it_takes_if_it_is_there(data):
    for times, recogniser in (
        ((100.0, 2500.0, None), "sphinx"),
        ((100.0, 300.0, None), "whisper-base"),
        ((100.0, 2500.0, 300.0), "whisper-tiny"),
        ((100.0, None, 300.0), "whisper-tiny"),
    ):
        timed = zip(("sphinx", "whisper-base", "whisper-tiny"), times, strict=True)
        pick_recogniser([Row("recogniser", name, final_ms=ms) for name, ms in timed])
        pick = ears.find_pick(data)
        assert pick is not None
        assert pick.recogniser == recogniser
    (data / ears.FILE).unlink()
    none = Row("recogniser", "whisper-base", note="not measured: no model")
    own = Row("recogniser", "whisper", final_ms=300.0)  # the person's own model
    assert pick_recogniser((none, own)) is None
    assert ears.find_pick(data) is None
    assert pick_synthesiser((Row("synthesiser", "kokoro", note="not measured: no file"),)) is None


@pytest.mark.parametrize(
    ("pick", "slow", "quick"),
    [
        (pick_synthesiser, Row("synthesiser", "kokoro", rtf=0.9), {"rtf": 0.3}),
        (pick_recogniser, Row("recogniser", "whisper-base", final_ms=2500.0), {"final_ms": 300.0}),
    ],
    ids=["kokoro", "ears"],
)
def test_what_was_slow_on_a_busy_machine_is_to_be_measured_again(data, pick, slow, quick):
    quick = replace(slow, **quick)
    for row, others, advised in ((slow, 0.5, True), (slow, 0.1, False), (quick, 0.5, False)):
        found = pick((replace(row, others=others),))
        assert found is not None
        assert found.reason.endswith(WHEN_IDLE) is advised
        if row.part == "synthesiser":
            assert speech.find_pick(data) == found
            assert found.synthesiser == ("kokoro" if row is quick else "starter")
            assert speech.places("kokoro", data) == (2 if row is quick else 1)


def test_every_precision_has_a_row_and_the_pick_is_kept_with_its_reason(data):
    machine = Machine()
    machine.others = 0.5
    rows = bench(
        Settings(),
        gauges=machine.gauges,
        published=machine.load_published,
    )
    full, int8 = (row for row in rows if row.profile)
    assert machine.published == [("auto", "full"), ("auto", "int8")]
    assert (full.name, int8.name, int8.device) == ("voxtream2 full", "voxtream2 int8", "cpu")
    assert full.rtf > 0.8 > int8.rtf
    assert pick_profile((replace(full, rtf=None),)) is None
    assert list(data.iterdir()) == []
    pick = pick_profile((full, int8))
    assert pick is not None
    assert pick.profile == "int8"
    assert pick.reason.startswith(f"int8 keeps RTF at {int8.rtf:.2f}; full would need")
    assert pick.reason.endswith(WHEN_IDLE)
    assert find_pick(data, "cpu") == "int8"
    assert speech.places("voxtream2", data) >= 1


def test_voxtream_that_was_not_fetched_has_one_row_that_says_so():
    def refuse(device: str, precision: str) -> TtsModel:
        raise ModelError("The neural voice needs model.safetensors.")

    machine = Machine()
    rows = bench(Settings(), gauges=machine.gauges, published=refuse)
    (row,) = (row for row in rows if row.profile)
    assert (row.rtf, row.note) == (None, "not measured: The neural voice needs model.safetensors.")


SPEECH = np.full(2 * SAMPLE_RATE, 0.5, np.float32)
PAUSE_S = 0.192


class Slow:
    """A recogniser and its recognition: looks and interim transcripts cost what they are to."""

    def __init__(self, look_s: float, interim_s: float, looks_at: float = 0.0) -> None:
        self.seconds = 0.0
        self.samples = 0
        self.closed = False
        self._look_s, self._interim_s, self._looks_at = look_s, interim_s, looks_at

    def open(self) -> "Slow":
        return self

    def push(self, pcm: np.ndarray) -> None:
        self.samples += len(pcm)

    def peek(self) -> str:
        return ""

    def partial(self) -> str:
        if self.samples >= self._looks_at * SAMPLE_RATE:
            self.seconds += self._look_s
            self._look_s = 0.0  # one look
        return ""

    def interim(self, wanted: Callable[[], bool]) -> Transcript | None:
        self.seconds += self._interim_s
        return Transcript("hello", 1.0, "slow")

    def close(self) -> None:
        self.closed = True

    def now(self) -> float:
        return self.seconds


SILENCE = np.zeros(SAMPLE_RATE, np.float32)  # after the last sound it is no speech


@pytest.mark.parametrize(
    ("look_s", "looks_at", "speech", "final"),
    [
        pytest.param(0.0, 0.0, SPEECH, PAUSE_S + 0.4, id="begins when the pause is noticed"),
        pytest.param(0.0, 0.0, np.concatenate([SPEECH, SILENCE]), PAUSE_S + 0.4, id="silence"),
        pytest.param(0.8, 1.0, SPEECH, PAUSE_S + 0.4, id="a look that is over delays nothing"),
        pytest.param(0.8, 1.9, SPEECH, 1.9 + 0.8 + 0.4 - 2.0, id="waits for a look that is not"),
    ],
)
def test_the_time_to_the_transcript_is_counted_from_the_last_sound(look_s, looks_at, speech, final):
    slow = Slow(look_s=look_s, interim_s=0.4, looks_at=looks_at)
    heard = hear(slow, speech, slow.now)
    assert slow.closed
    assert heard.final_s == pytest.approx(final)
    assert heard.busy_s == pytest.approx(look_s + 0.4)  # what is computed is counted once
