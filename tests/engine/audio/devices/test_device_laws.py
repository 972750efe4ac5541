"""What every loudspeaker and microphone must obey; files do so exact to the sample."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
import soundfile

from engine.audio.base import Loudspeaker, Microphone, Pcm
from engine.audio.clips.clip import Clip
from engine.audio.devices import portaudio
from engine.audio.devices.file_device import FileLoudspeaker, FileMicrophone
from engine.audio.pcm import level_db
from tests.engine.audio.tone import sine
from tests.help.fakes.stepped_clock import SteppedClock
from tests.help.machine.virtual_audio import VirtualAudio

RATE = 16_000
KINDS = ["file", pytest.param("device", marks=[pytest.mark.device, pytest.mark.slow])]
CUT_S = 0.06  # the longest a cut may take to be complete: margin, fade, and one look at the device
SPOKEN_S = 0.5
SPOKEN_DB = -9.0  # a sine of half the full scale


@dataclass(frozen=True)
class LoudspeakerStage:
    loudspeaker: Loudspeaker
    pass_time: Callable[[float], None]  # seconds

    def tone(self, seconds: float) -> Pcm:
        return sine(self.loudspeaker.sample_rate, seconds)

    def pass_until_all_is_heard(self) -> None:
        speaker = self.loudspeaker
        self.pass_until(lambda: speaker.samples_played == speaker.samples_written)

    def pass_until(self, condition: Callable[[], bool]) -> None:
        for _ in range(300):
            if condition():
                return
            self.pass_time(0.01)
        raise AssertionError("it did not happen within three seconds")


@pytest.fixture(params=KINDS)
def stage(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[LoudspeakerStage]:
    if request.param == "device":
        request.getfixturevalue("shared_card")
        loudspeaker, pass_time = portaudio.open_loudspeaker(), time.sleep
    else:
        clock = SteppedClock()
        loudspeaker = FileLoudspeaker(tmp_path / "out.wav", RATE, clock=clock)
        pass_time = clock.advance
    yield LoudspeakerStage(loudspeaker, pass_time)
    loudspeaker.close()


def test_everything_written_is_heard_once_and_silence_is_not(stage):
    new = stage.loudspeaker
    stage.pass_time(0.2)
    assert (new.samples_written, new.samples_played, new.underruns, new.gain) == (0, 0, 0, 1.0)
    assert new.latency_s >= 0
    assert new.name
    tone = stage.tone(0.3)
    assert new.write(tone) == len(tone)
    assert new.samples_written == len(tone)
    stage.pass_until_all_is_heard()
    stage.pass_time(0.1)
    assert new.samples_played == len(tone)


def test_it_takes_what_it_says_it_takes_and_no_more_once_closed(stage):
    second = stage.loudspeaker.sample_rate
    taken = stage.loudspeaker.write(np.zeros(20 * second, np.float32))
    assert second // 2 <= taken < 10 * second
    assert stage.loudspeaker.samples_written == taken
    stage.loudspeaker.gain = 0.25
    assert stage.loudspeaker.gain == 0.25
    assert stage.loudspeaker.samples_written == taken
    stage.loudspeaker.close()
    stage.loudspeaker.close()
    assert stage.loudspeaker.write(stage.tone(0.1)) == 0
    assert stage.loudspeaker.samples_played <= stage.loudspeaker.samples_written


@pytest.mark.parametrize("more", [True, False], ids=["mid-utterance", "at the end"])
def test_running_empty_mid_utterance_alone_is_one_underrun(stage, *, more):
    speaker = stage.loudspeaker
    speaker.expect_more(True)
    speaker.write(stage.tone(0.05))
    if not more:
        speaker.expect_more(False)
    stage.pass_until_all_is_heard()
    stage.pass_time(0.1)
    assert speaker.underruns == int(more)
    speaker.expect_more(True)
    speaker.write(stage.tone(0.05))
    assert speaker.underruns == int(more)


def test_a_cut_drops_what_was_not_played(stage):
    speaker = stage.loudspeaker
    speaker.expect_more(True)
    speaker.write(stage.tone(0.5))
    stage.pass_until(lambda: speaker.samples_played > 0)
    speaker.cut()
    left = speaker.samples_written - speaker.samples_played
    assert left <= CUT_S * speaker.sample_rate
    stage.pass_until_all_is_heard()
    stage.pass_time(0.6)
    assert speaker.samples_played == speaker.samples_written
    assert speaker.underruns == 0


@dataclass(frozen=True)
class MicrophoneStage:
    microphone: Microphone
    speak: Callable[[], None]  # a sine of SPOKEN_S and SPOKEN_DB begins now
    pass_time: Callable[[float], None]  # seconds, and more on a busy machine
    now: Callable[[], float]

    def listen(self, seconds: float) -> Pcm:
        parts = []
        for _ in range(round(seconds / 0.02)):
            self.pass_time(0.02)
            parts.append(self.microphone.read())
        return np.concatenate(parts)


@pytest.fixture(params=KINDS)
def ear(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[MicrophoneStage]:
    path = tmp_path / "tone.wav"
    soundfile.write(path, sine(RATE, SPOKEN_S), RATE)
    if request.param == "file":
        clock = SteppedClock()
        microphone = FileMicrophone(path, clock=clock)
        yield MicrophoneStage(microphone, lambda: None, clock.advance, clock)
        return
    card: VirtualAudio = request.getfixturevalue("shared_card")
    speaking = []
    microphone = portaudio.open_microphone()
    speak = lambda: speaking.append(card.speaking(path))  # noqa: E731
    yield MicrophoneStage(microphone, speak, time.sleep, time.monotonic)
    microphone.close()
    for process in speaking:
        process.wait(timeout=10)


def test_it_hears_what_is_spoken(ear):
    ear.microphone.read()
    ear.speak()
    heard = ear.listen(SPOKEN_S + 0.5)
    assert (heard.dtype, heard.ndim) == (np.float32, 1)
    assert ear.microphone.name
    loud = heard[np.abs(heard) > 0.05]
    assert level_db(loud) == pytest.approx(SPOKEN_DB, abs=2)
    assert len(loud) / ear.microphone.sample_rate == pytest.approx(SPOKEN_S, abs=0.1)


def test_its_samples_come_as_fast_as_time_and_each_once(ear):
    ear.microphone.read()
    ear.speak()
    ear.pass_time(0.3)
    first = ear.microphone.read()
    assert len(first) > 0
    assert len(ear.microphone.read()) < len(first)
    began = ear.now()
    heard_s = len(ear.listen(1.0)) / ear.microphone.sample_rate
    assert heard_s == pytest.approx(ear.now() - began, abs=0.2)


def test_a_closed_microphone_hears_nothing(ear):
    ear.microphone.close()
    ear.microphone.close()
    assert len(ear.microphone.read()) == 0


@pytest.fixture
def clock() -> SteppedClock:
    return SteppedClock()


def test_a_file_is_heard_as_time_passes_then_silence_then_nothing(clock):
    tone = sine(RATE, 0.3)
    microphone = FileMicrophone(Clip(tone, RATE), clock=clock, tail_s=0.2)
    assert len(microphone.read()) == 0
    clock.advance(0.1)
    np.testing.assert_array_equal(microphone.read(), tone[:1600])
    clock.advance(0.3)
    assert not microphone.ended
    np.testing.assert_array_equal(microphone.read(), [*tone[1600:], *[0.0] * 1600])
    clock.advance(10)
    assert len(microphone.read()) == 1600
    assert microphone.ended
    assert len(microphone.read()) == 0


def test_nothing_is_spoken_before_somebody_listens(clock):
    microphone = FileMicrophone(Clip(sine(RATE, 1.0), RATE), clock=clock)
    clock.advance(30)
    assert len(microphone.read()) == 0
    clock.advance(0.5)
    assert len(microphone.read()) == RATE // 2


def test_what_is_played_is_written_with_the_silence_around_it(clock, tmp_path):
    speaker = FileLoudspeaker(tmp_path / "out.wav", RATE, clock=clock)
    clock.advance(0.5)
    tone = sine(RATE, 0.25)
    speaker.write(tone)
    clock.advance(1.0)
    speaker.close()
    pcm, rate = soundfile.read(tmp_path / "out.wav", dtype="float32")
    assert rate == RATE
    assert len(pcm) == 1.5 * RATE
    np.testing.assert_allclose(pcm[8000:12000], tone, atol=1e-4)
    assert not pcm[:8000].any()
    assert not pcm[12000:].any()


def test_samples_do_not_depend_on_how_often_one_looks():
    recordings = []
    for looks in (1, 7, 50):
        clock = SteppedClock()
        speaker = FileLoudspeaker(None, RATE, clock=clock)
        speaker.write(sine(RATE, 0.5))
        for _ in range(looks):
            clock.advance(0.4 / looks)
            _ = speaker.samples_played
        recordings.append(speaker.recorded())
    for recording in recordings[1:]:
        np.testing.assert_array_equal(recording, recordings[0])
