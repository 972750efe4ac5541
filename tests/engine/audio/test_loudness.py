"""Loudness as ITU-R BS.1770 and pyloudnorm measure it."""

import numpy as np
import pytest

from engine.audio.loudness import brought_to, loudness
from engine.audio.pcm import Pcm
from tests.engine.audio.tone import sine

# What pyloudnorm 0.2.0 says of swelling(rate, seconds), in LUFS.
PYLOUDNORM = {
    (8_000, 1.0): -23.06458,
    (16_000, 0.4): -21.94734,
    (22_050, 3.33): -21.59562,
    (24_000, 7.77): -21.23279,
    (44_100, 0.449): -22.59603,
    (48_000, 2.5): -21.38763,
}


def swelling(rate: int, seconds: float) -> Pcm:
    """Noise that grows, with a hum too low to be heard."""
    count = round(rate * seconds)
    noise = np.random.default_rng(7).standard_normal(count) * np.linspace(0.001, 0.1, count)
    hum = 0.2 * np.sin(2 * np.pi * 12 * np.arange(count) / rate)
    return (noise + hum).astype(np.float32)


@pytest.mark.parametrize(("rate", "seconds"), PYLOUDNORM)
def test_it_measures_what_pyloudnorm_measures(rate: int, seconds: float) -> None:
    found = loudness(swelling(rate, seconds), rate)
    assert found == pytest.approx(PYLOUDNORM[rate, seconds], abs=1e-3)


@pytest.mark.parametrize("pcm", [np.zeros(24_000, np.float32), sine(24_000, 0.39)])
def test_what_is_silent_or_too_short_to_measure_is_left_alone(pcm: Pcm) -> None:
    assert loudness(pcm, 24_000) == float("-inf")
    assert brought_to(pcm, 24_000, -23.0) is pcm


@pytest.mark.parametrize("level", [0.001, 0.03, 0.9])
def test_a_recording_is_brought_to_a_loudness(level: float) -> None:
    brought = brought_to(2 * level * sine(24_000, 2.0), 24_000, -23.0)
    assert brought.dtype == np.float32
    assert loudness(brought, 24_000) == pytest.approx(-23.0, abs=1e-3)


def test_no_peak_goes_beyond_full_scale() -> None:
    clicks = np.zeros(48_000, np.float32)
    clicks[::4_800] = 0.5
    brought = brought_to(clicks, 24_000, -10.0)
    assert np.abs(brought).max() == pytest.approx(1.0)
    assert loudness(brought, 24_000) < -10.0
