"""Pitch, energy, level and bandwidth of samples at 24 kHz."""

import numpy as np
import pytest
import soxr

from engine.tts.kokoro.fit.measuring import bandwidth, energy_of, pitch_of, sounding
from engine.tts.kokoro.parts import SAMPLE_RATE, STEP
from tests.engine.tts.kokoro.test_resemblance import NOISE, harmonics


@pytest.mark.parametrize("pitch_hz", [90.0, 180.0, 330.0])
def test_pitch_has_a_value_every_step_at_its_place(pitch_hz):
    pcm = np.concatenate([np.zeros(SAMPLE_RATE // 2, np.float32), harmonics(pitch_hz)])
    pitch = pitch_of(pcm)
    assert len(pitch) == len(pcm) // STEP == len(energy_of(pcm))
    half = SAMPLE_RATE // 2 // STEP
    assert not pitch[: half - 2].any()
    assert pitch[half + 2 : -2] == pytest.approx(pitch_hz, rel=0.03)


def test_a_pitch_that_is_found_in_noise_is_none():
    pcm = np.concatenate([harmonics(120.0), harmonics(400.0, 0.1), harmonics(120.0)])
    pitch = pitch_of(pcm)
    assert pitch[pitch > 0].max() < 130
    assert (pitch > 0).mean() > 0.8


def test_energy_follows_the_level():
    low, high = (energy_of(level * NOISE).mean() for level in (0.1, 1.0))
    assert high - low == pytest.approx(np.log(100), abs=0.1)


def test_sounding_blocks_are_found_and_silence_has_none():
    pcm = np.concatenate([np.zeros(9600), NOISE[:24_000], np.zeros(4800)]).astype(np.float32)
    power, first, last = sounding(pcm)
    assert (first, last) == (9600, 33_600)
    assert power == pytest.approx(0.01, rel=0.05)
    assert sounding(np.zeros(4800, np.float32)) == (0.0, 0, 0)


def test_the_bandwidth_is_that_of_the_sound_not_of_the_file():
    narrow = soxr.resample(soxr.resample(NOISE, SAMPLE_RATE, 8_000), 8_000, SAMPLE_RATE)
    assert 3_500 < bandwidth(narrow.astype(np.float32)) < 4_500
    assert bandwidth(NOISE) > 11_500
