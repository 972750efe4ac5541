"""Profiles are measured one at a time, each in a process that is gone afterwards; and hearing, from
the end of speech to its transcript, on a clock that is stepped by hand.
"""

import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from engine.asr.base import SAMPLE_RATE, Transcript
from engine.bench import profiles
from engine.bench.hearing import hear
from engine.bench.profiles import Instruments, Measured, Outcome, in_a_process, measure, measure_all
from engine.runtime.host.offline_synthesis import Clock
from engine.tts.base import TtsModel
from engine.tts.voxtream.config import FULL
from engine.tts.voxtream.files.pick import NAMES
from tests.engine.tts.voxtream.small_model import small

FAST = Measured("voice", "cpu", 1.0, 100.0, 0.5, 900.0, 0.0)


class Ticks:
    """A clock that goes on by 10 ms at every look, and an hour of others' work."""

    def __init__(self) -> None:
        self.looks = 0

    def now(self) -> float:
        self.looks += 1
        return self.looks * 0.01

    def instruments(self) -> Instruments:
        return Instruments(
            Clock(self.now, lambda duration: None),
            lambda: 100.0 + self.looks,
            lambda: self.looks * 0.005,
        )


def test_profiles_are_measured_in_order_and_announced():
    asked: list[str] = []
    told: list[str] = []

    def one(name: str, device: str) -> Outcome:
        assert device == "auto"
        assert len(told) == len(asked) + 1
        asked.append(name)
        return FAST if name != "int8" else "it did not answer."

    found = measure_all("auto", told.append, one)
    assert tuple(asked) == NAMES == tuple(found)
    assert found["int8"] == "it did not answer."
    assert "full (1 of 3)" in told[0]
    cuda = replace(FAST, device="cuda")  # there only the full profile is measured
    assert measure_all("auto", told.append, lambda name, device: cuda) == {"full": cuda}


def test_a_model_is_loaded_measured_and_released():
    ticks = Ticks()
    made: list[TtsModel] = []

    def load() -> TtsModel:
        made.append(small(FULL))
        ticks.looks += 100
        return made[0]

    found = measure(load, ticks.instruments())
    assert found.load_s == pytest.approx(1.01)
    assert found.first_packet_ms == pytest.approx(10)
    assert found.rtf == pytest.approx(0.01 / 0.08)
    assert found.memory_mb > 100
    assert found.others == pytest.approx(0.5, abs=0.01)
    assert "RANDOM" in found.model
    assert made[0]._idle == []  # type: ignore[attr-defined]


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
