"""The benchmark measures what is there and says why the rest is not measured."""

import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.asr import pick as ears
from engine.asr.base import SAMPLE_RATE, Recogniser, Transcript
from engine.bench import machine as benchmark
from engine.bench import profiles
from engine.bench.hearing import hear
from engine.bench.machine import (
    WHEN_IDLE,
    Row,
    bench,
    pick_profile,
    pick_recogniser,
    pick_synthesiser,
)
from engine.bench.profiles import Instruments, Measured, Outcome, in_a_process, measure
from engine.errors import ModelError
from engine.runtime.factories import Factories
from engine.runtime.host.offline_synthesis import Clock
from engine.settings import RecogniserSettings, Settings, SpeechSettings
from engine.tts import pick as speech
from engine.tts import speeds
from engine.tts.base import Progress, TtsModel
from engine.tts.voxtream.files.pick import find_pick
from tests.fakes import FakeParts
from tests.fakes_tts import FakeTts


class Machine:
    def __init__(self) -> None:
        self.seconds = 0.0
        self.megabytes = 0.0
        self.models: list[FakeTts] = []
        self.profiles: dict[str, Outcome] = {
            "int8": Measured("voice", "cpu", 2.0, 300.0, 1.3, 1200.0, 0.0),
            "int4": Measured("RANDOM voice", "cpu", 1.0, 200.0, 0.74, 900.0, 0.5),
            "full": "it did not answer.",
        }
        self.devices: list[str] = []
        self.others = 0.0  # share of the machine that other programs take

    def spend(self, text: str) -> None:
        self.seconds += 0.01

    def memory(self) -> float:
        self.megabytes += 1.0
        return self.megabytes

    def measure(self, device: str, tell: Callable[[str], None]) -> Mapping[str, Outcome]:
        self.devices.append(device)
        return self.profiles

    @property
    def gauges(self) -> Instruments:
        clock = Clock(lambda: self.seconds, lambda duration: None)
        return Instruments(clock, self.memory, lambda: self.others * self.seconds)

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
    rows = bench(
        Settings(), factories=machine.factories, gauges=machine.gauges, tell=told.append, quick=True
    )
    assert told[0] == "Measuring the voices ..."
    voices = [row for row in rows if row.part == "synthesiser"]
    ears = [row for row in rows if row.part == "recogniser"]
    # the neural one, in two editions: profile by profile
    assert len(voices) == len(benchmark.SYNTHESISERS) - 2
    assert machine.devices == []
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
        factories=replace(machine.factories, synthesiser=refuse),
        gauges=machine.gauges,
        profiles=machine.measure,
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
            assert speeds.places("kokoro", data) == (2 if row is quick else 1)


def test_every_profile_has_a_row_and_the_pick_is_kept_with_its_reason(data):
    machine = Machine()
    rows = bench(
        Settings(), factories=machine.factories, gauges=machine.gauges, profiles=machine.measure
    )
    int8, int4, small = (row for row in rows if row.profile)
    assert machine.devices == ["auto"]
    assert (int8.name, int8.device, int8.rtf, int8.note) == ("voxtream2 int8", "cpu", 1.3, "")
    assert "random weights of full size" in int4.note
    assert "other programs took 50% of the machine" in int4.note
    assert (small.rtf, small.note) == (None, "not measured: it did not answer.")
    assert pick_profile((small,)) is None
    assert list(data.iterdir()) == []
    pick = pick_profile((int8, int4, small))
    assert pick is not None
    assert pick.profile == "int4"
    assert pick.reason == f"int4 keeps RTF at 0.74; int8 would need 1.30. {WHEN_IDLE}"
    assert find_pick(data, "cpu") == "int4"
    assert speeds.places("voxtream2", data) == 1


FAST = Measured("voice", "cpu", 1.0, 100.0, 0.5, 900.0, 0.0)


def test_a_model_is_loaded_measured_and_released():
    looks, model = count(), FakeTts()
    clock = Clock(lambda: next(looks) * 0.01, lambda duration: None)  # each look takes 10 ms
    gauges = Instruments(clock, iter([1.0, 4.0]).__next__, iter([0.0, 0.5]).__next__)
    found = measure(lambda: model, gauges)
    assert (found.model, found.memory_mb) == ("fake", 3.0)
    assert found.load_s == pytest.approx(0.01)
    assert found.first_packet_ms == pytest.approx(10)
    assert found.rtf == pytest.approx(0.01 / 0.08)
    assert 0 < found.others < 1
    assert model.closed


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        (f"import json; print('noise'); print(json.dumps({vars(FAST)!r}))", None),
        ("print('hello')", "did not answer"),
        ('print(\'{"fault": "The weights are damaged."}\')', "damaged"),
        ("raise SystemExit('no room')", "no room (status 1)"),
        ("import os; os._exit(9)", "perhaps for want of memory (status 9)"),
    ],
)
def test_the_last_line_of_a_process_is_its_answer_or_why_it_failed(monkeypatch, code, reason):
    genuine = subprocess.run

    def run(command: list[str], **options: Any) -> Any:
        assert command[-2:] == ["int4", "cpu"]
        return genuine([sys.executable, "-c", code], **options)

    monkeypatch.setattr(profiles.subprocess, "run", run)
    found = in_a_process("int4", "cpu")
    assert found == FAST if reason is None else reason in str(found)


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
    assert heard.text == "hello"
    assert heard.final_s == pytest.approx(final)
    assert heard.busy_s == pytest.approx(look_s + 0.4)  # what is computed is counted once
