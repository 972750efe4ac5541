"""A recording that speaks and a recording that is made, exact to the sample."""

import numpy as np
import pytest
import soundfile

from engine.audio.clips.clip import Clip
from engine.audio.devices.file_device import FileLoudspeaker, FileMicrophone
from tests.engine.audio.tone import sine
from tests.stepped_clock import SteppedClock

RATE = 16_000


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
