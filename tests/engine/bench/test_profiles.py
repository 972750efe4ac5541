"""Profiles are measured one at a time, each in a process that is gone afterwards."""

import subprocess
import sys
from dataclasses import replace
from typing import Any

import pytest

from engine.bench import profiles
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


def test_profiles_are_measured_in_order_and_announced() -> None:
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


def test_a_model_is_loaded_measured_and_released() -> None:
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
def test_the_last_line_of_the_process_is_its_answer_and_one_that_fails_gives_the_reason(
    monkeypatch: pytest.MonkeyPatch, code: str, reason: str | None
) -> None:
    genuine = subprocess.run

    def run(command: list[str], **options: Any) -> Any:
        assert command[-2:] == ["int4", "cpu"]
        return genuine([sys.executable, "-c", code], **options)

    monkeypatch.setattr(profiles.subprocess, "run", run)
    found = in_a_process("int4", "cpu")
    assert found == FAST if reason is None else reason in str(found)
