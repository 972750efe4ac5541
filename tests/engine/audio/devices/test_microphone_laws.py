"""What every microphone must obey, a device or a file."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
import soundfile

from engine.audio.base import Microphone, Pcm
from engine.audio.clips.clip import Clip
from engine.audio.devices import portaudio
from engine.audio.devices.file_device import FileMicrophone
from engine.audio.pcm import level_db
from tests.engine.audio.tone import sine
from tests.stepped_clock import SteppedClock
from tests.virtual_audio import VirtualAudio

RATE = 16_000
KINDS = ["memory", "file", pytest.param("device", marks=[pytest.mark.device, pytest.mark.slow])]
SPOKEN_S = 0.5
SPOKEN_DB = -9.0  # a sine of half the full scale


@dataclass(frozen=True)
class MicrophoneStage:
    microphone: Microphone
    speak: Callable[[], None]  # a sine of SPOKEN_S and SPOKEN_DB begins now
    pass_time: Callable[[float], None]  # seconds


@pytest.fixture(params=KINDS)
def stage(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[MicrophoneStage]:
    tone = sine(RATE, SPOKEN_S)
    soundfile.write(tmp_path / "tone.wav", tone, RATE)
    if request.param == "device":
        card: VirtualAudio = request.getfixturevalue("shared_card")
        speaking = []
        microphone = portaudio.open_microphone()
        yield MicrophoneStage(
            microphone, lambda: speaking.append(card.speaking(tmp_path / "tone.wav")), time.sleep
        )
        microphone.close()
        for process in speaking:
            process.wait(timeout=10)
        return
    clock = SteppedClock()
    source = Clip(tone, RATE) if request.param == "memory" else tmp_path / "tone.wav"
    yield MicrophoneStage(FileMicrophone(source, clock=clock), lambda: None, clock.advance)


def test_it_hears_what_is_spoken(stage: MicrophoneStage) -> None:
    stage.microphone.read()
    stage.speak()
    heard = _listen(stage, SPOKEN_S + 0.5)
    loud = heard[np.abs(heard) > 0.05]
    assert level_db(loud) == pytest.approx(SPOKEN_DB, abs=2)
    assert len(loud) / stage.microphone.sample_rate == pytest.approx(SPOKEN_S, abs=0.1)


def test_its_samples_are_mono_float32(stage: MicrophoneStage) -> None:
    stage.speak()
    stage.pass_time(0.2)
    pcm = stage.microphone.read()
    assert pcm.dtype == np.float32
    assert pcm.ndim == 1
    assert stage.microphone.name


def test_its_samples_come_as_fast_as_time(stage: MicrophoneStage) -> None:
    stage.microphone.read()
    stage.pass_time(0.2)
    stage.microphone.read()
    heard = _listen(stage, 1.0)
    assert len(heard) / stage.microphone.sample_rate == pytest.approx(1.0, abs=0.2)


def test_nothing_is_heard_twice(stage: MicrophoneStage) -> None:
    stage.microphone.read()
    stage.speak()
    stage.pass_time(0.3)
    first = stage.microphone.read()
    assert len(first) > 0
    assert len(stage.microphone.read()) < len(first)


def test_a_closed_microphone_hears_nothing(stage: MicrophoneStage) -> None:
    stage.microphone.close()
    stage.microphone.close()
    assert len(stage.microphone.read()) == 0


def _listen(stage: MicrophoneStage, seconds: float) -> Pcm:
    parts = []
    for _ in range(round(seconds / 0.02)):
        stage.pass_time(0.02)
        parts.append(stage.microphone.read())
    return np.concatenate(parts)
