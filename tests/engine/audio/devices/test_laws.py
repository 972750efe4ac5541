"""Files and devices obey the same laws (laws.py)."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import soundfile

from engine.audio.clips.clip import Clip
from engine.audio.devices import portaudio
from engine.audio.devices.file_device import FileLoudspeaker, FileMicrophone
from tests.engine.audio import laws
from tests.engine.audio.laws import LoudspeakerStage, MicrophoneStage, sine
from tests.stepped_clock import SteppedClock
from tests.virtual_audio import VirtualAudio

RATE = 16_000
KINDS = ["memory", "file", pytest.param("device", marks=[pytest.mark.device, pytest.mark.slow])]


@pytest.fixture(params=KINDS)
def microphone_stage(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[MicrophoneStage]:
    tone = sine(RATE, laws.SPOKEN_S)
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


@pytest.fixture(params=KINDS)
def loudspeaker_stage(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[LoudspeakerStage]:
    if request.param == "device":
        request.getfixturevalue("shared_card")
        loudspeaker = portaudio.open_loudspeaker()
        yield LoudspeakerStage(loudspeaker, time.sleep)
        loudspeaker.close()
        return
    clock = SteppedClock()
    path = tmp_path / "out.wav" if request.param == "file" else None
    written = FileLoudspeaker(path, RATE, clock=clock)
    yield LoudspeakerStage(written, clock.advance)
    written.close()


@pytest.mark.parametrize("law", laws.MICROPHONE_LAWS, ids=lambda law: law.__name__)
def test_a_microphone_obeys(
    law: Callable[[MicrophoneStage], None], microphone_stage: MicrophoneStage
) -> None:
    law(microphone_stage)


@pytest.mark.parametrize("law", laws.LOUDSPEAKER_LAWS, ids=lambda law: law.__name__)
def test_a_loudspeaker_obeys(
    law: Callable[[LoudspeakerStage], None], loudspeaker_stage: LoudspeakerStage
) -> None:
    law(loudspeaker_stage)
