"""Samples: their levels, their loudness, and how they end."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.audio.finishing import Ending, faded_out
from engine.audio.pcm import SILENCE_DB, Pcm, Resampler, brought_to, level_db, loudness
from tests.engine.audio.tone import sine

RATES = [(48_000, 16_000), (24_000, 48_000), (22_050, 48_000), (44_100, 16_000), (16_000, 16_000)]


def _resample(pcm: np.ndarray, rates: tuple[int, int], cuts: list[int]) -> np.ndarray:
    resampler = Resampler(*rates)
    parts = [resampler.push(part) for part in np.split(pcm, cuts)]
    return np.concatenate([*parts, resampler.end()])


@pytest.mark.parametrize("rates", RATES)
@settings(max_examples=15, deadline=None)
@given(cuts=st.lists(st.integers(0, 9_600), max_size=8).map(sorted))
def test_resampling_in_chunks_equals_all_at_once(rates, cuts):
    pcm = np.random.default_rng(1).uniform(-1, 1, 9_600).astype(np.float32)
    chunked, whole = _resample(pcm, rates, cuts), _resample(pcm, rates, [])
    np.testing.assert_allclose(chunked, whole, atol=1e-6)


@pytest.mark.parametrize("rates", RATES)
def test_a_tone_keeps_its_length_pitch_and_level(rates):
    source, target = rates
    made = _resample(sine(source, 1.0), rates, [source // 3])
    assert len(made) == pytest.approx(target, abs=1)
    expected = sine(target, 1.0)[: len(made)]
    middle = slice(target // 10, -target // 10)  # the filter has no past at the edges
    np.testing.assert_allclose(made[middle], expected[: len(made)][middle], atol=2e-3)


@pytest.mark.parametrize(
    ("pcm", "expected"),
    [
        (np.ones(100, np.float32), 0.0),
        (sine(16_000, 1.0), -9.03),
        (np.full(100, 0.1, np.float32), -20.0),
        (np.full(100, 1e-9, np.float32), SILENCE_DB),
        (np.zeros(100, np.float32), SILENCE_DB),
        (np.zeros(0, np.float32), SILENCE_DB),
        (np.full(100, 7, np.float32), 0.0),
    ],
)
def test_a_level_is_root_mean_square(pcm, expected):
    assert level_db(pcm) == pytest.approx(expected, abs=0.01)


RATE = 24_000


@pytest.mark.parametrize("samples", [0, 100, 600, 1_920, 9_600])
def test_it_dies_away_within_its_samples(samples):
    pcm = sine(RATE, 0.4)[:samples]
    ended = faded_out(pcm, RATE)
    assert len(ended) == samples
    assert not ended[-240:].any()
    assert np.array_equal(ended[: max(0, samples - 1_200)], pcm[: max(0, samples - 1_200)])


def test_what_breaks_off_goes_on_and_dies_away():
    ending = Ending(RATE)
    pcm = sine(RATE, 0.4)[:-17]
    for part in (pcm[:5_000], pcm[5_000:]):
        ending.hear(part)
    sound = ending.sound()
    whole = np.concatenate([pcm, sound])
    assert np.abs(np.diff(whole)).max() <= np.abs(np.diff(pcm)).max() * 1.01  # no click
    assert level_db(sound[:240]) > -20
    assert not sound[-240:].any()


def test_of_nothing_comes_nothing_or_silence():
    assert not len(Ending(RATE).sound())
    assert not Ending(RATE).sound(480).any()
    assert len(Ending(RATE).sound(480)) == 480


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
def test_it_measures_what_pyloudnorm_measures(rate, seconds):
    found = loudness(swelling(rate, seconds), rate)
    assert found == pytest.approx(PYLOUDNORM[rate, seconds], abs=1e-3)


@pytest.mark.parametrize("pcm", [np.zeros(24_000, np.float32), sine(24_000, 0.39)])
def test_what_is_silent_or_too_short_to_measure_is_left_alone(pcm):
    assert loudness(pcm, 24_000) == float("-inf")
    assert brought_to(pcm, 24_000, -23.0) is pcm


@pytest.mark.parametrize("level", [0.001, 0.03, 0.9])
def test_a_recording_is_brought_to_a_loudness(level):
    brought = brought_to(2 * level * sine(24_000, 2.0), 24_000, -23.0)
    assert brought.dtype == np.float32
    assert loudness(brought, 24_000) == pytest.approx(-23.0, abs=1e-3)


def test_no_peak_goes_beyond_full_scale():
    clicks = np.zeros(48_000, np.float32)
    clicks[::4_800] = 0.5
    brought = brought_to(clicks, 24_000, -10.0)
    assert np.abs(brought).max() == pytest.approx(1.0)
    assert loudness(brought, 24_000) < -10.0
