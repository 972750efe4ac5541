"""Pitch, energy, colour and bandwidth of samples at 24 kHz."""

import numpy as np
import pytest
import soxr

from engine.tts.kokoro.delivery import TAPS
from engine.tts.kokoro.fit.measuring import (
    bandwidth,
    delivery_of,
    energy_of,
    equaliser,
    own_pitch,
    pitch_of,
    sounding,
)
from engine.tts.kokoro.source import SAMPLE_RATE, STEP


def harmonics(pitch_hz: float, seconds: float = 1.0) -> np.ndarray:
    times = np.arange(int(seconds * SAMPLE_RATE)) / SAMPLE_RATE
    waves = [np.sin(2 * np.pi * pitch_hz * k * times) / k for k in range(1, 30)]
    return (0.1 * np.sum(waves, axis=0)).astype(np.float32)


NOISE = np.random.default_rng(2).normal(0, 0.1, 3 * SAMPLE_RATE).astype(np.float32)


@pytest.mark.parametrize("pitch_hz", [90.0, 180.0, 330.0])
def test_pitch_has_a_value_every_step_at_its_place(pitch_hz):
    pcm = np.concatenate([np.zeros(SAMPLE_RATE // 2, np.float32), harmonics(pitch_hz)])
    pitch = pitch_of(pcm)
    assert len(pitch) == len(pcm) // STEP == len(energy_of(pcm))
    half = SAMPLE_RATE // 2 // STEP
    assert not pitch[: half - 2].any()
    assert pitch[half + 2 : -2] == pytest.approx(pitch_hz, rel=0.03)


def test_a_pitch_that_is_found_in_noise_is_none():
    pcm = np.concatenate([harmonics(120.0, 1.0), harmonics(400.0, 0.1), harmonics(120.0, 1.0)])
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


def test_the_middle_and_the_spread_of_a_pitch_are_brought_to_another_s():
    draw = np.random.default_rng(1)
    ours, theirs = (np.exp(draw.normal(m, s, 400)) for m, s in ((5.3, 0.2), (4.8, 0.22)))
    offset, spread = own_pitch(ours, theirs)
    moved = offset + spread * np.log(ours)
    assert np.median(moved) == pytest.approx(np.median(np.log(theirs)), abs=0.01)
    widths = [np.ptp(np.percentile(each, (15, 85))) for each in (moved, np.log(theirs))]
    assert widths[0] == pytest.approx(widths[1], rel=0.01)
    assert own_pitch(ours, np.zeros(90)) == (0.0, 1.0)


def test_the_equaliser_gives_the_colour_of_a_clip_up_to_its_bandwidth():
    tilted = np.convolve(NOISE, (1.0, 0.9), "same").astype(np.float32)
    taps = equaliser(tilted, NOISE)
    assert taps.shape == (TAPS,)
    response = np.abs(np.fft.rfft(taps, 2048))
    wanted = np.abs(np.fft.rfft((1.0, 0.9), 2048))
    ratio = response / wanted
    middle = slice(40, 700)
    assert ratio[middle] / ratio[middle].mean() == pytest.approx(1.0, abs=0.25)
    assert np.abs(np.fft.rfft(equaliser(NOISE, NOISE), 2048)) == pytest.approx(1.0, abs=0.02)
    loud = np.convolve(NOISE, np.ones(60) / 60, "same").astype(np.float32)
    assert np.abs(np.fft.rfft(equaliser(loud, NOISE), 2048)).max() < 6


def test_the_bandwidth_is_that_of_the_sound_not_of_the_file():
    narrow = soxr.resample(soxr.resample(NOISE, SAMPLE_RATE, 8_000), 8_000, SAMPLE_RATE)
    assert 3_500 < bandwidth(narrow.astype(np.float32)) < 4_500
    assert bandwidth(NOISE) > 11_500


def test_a_deep_slow_speaker_is_delivered_so():
    said, clip = harmonics(200.0, 2.0), harmonics(120.0, 2.0)
    delivery = delivery_of(clip, SAMPLE_RATE, said, pitch_of(said))
    assert delivery.pitched(np.array([200.0], np.float32)) == pytest.approx(120.0, rel=0.03)
