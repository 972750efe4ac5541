"""Resampling, levels and ramps."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.audio.pcm import SILENCE_DB, Resampler, level_db, ramp
from tests.engine.audio.tone import sine

RATES = [(48_000, 16_000), (24_000, 48_000), (22_050, 48_000), (44_100, 16_000), (16_000, 16_000)]


def _resample(pcm: np.ndarray, rates: tuple[int, int], cuts: list[int]) -> np.ndarray:
    resampler = Resampler(*rates)
    parts = [resampler.push(part) for part in np.split(pcm, cuts)]
    return np.concatenate([*parts, resampler.end()])


@pytest.mark.parametrize("rates", RATES)
@settings(max_examples=15, deadline=None)
@given(cuts=st.lists(st.integers(0, 9_600), max_size=8).map(sorted))
def test_resampling_in_chunks_equals_all_at_once(rates: tuple[int, int], cuts: list[int]) -> None:
    pcm = np.random.default_rng(1).uniform(-1, 1, 9_600).astype(np.float32)
    chunked, whole = _resample(pcm, rates, cuts), _resample(pcm, rates, [])
    np.testing.assert_allclose(chunked, whole, atol=1e-6)


@pytest.mark.parametrize("rates", RATES)
def test_a_tone_keeps_its_length_pitch_and_level(rates: tuple[int, int]) -> None:
    source, target = rates
    made = _resample(sine(source, 1.0), rates, [source // 3])
    assert len(made) == pytest.approx(target, abs=1)
    expected = sine(target, 1.0)[: len(made)]
    middle = slice(target // 10, -target // 10)  # the filter has no past at the edges
    np.testing.assert_allclose(made[middle], expected[: len(made)][middle], atol=2e-3)


def test_an_ended_stream_takes_no_more() -> None:
    for rates in ((16_000, 16_000), (16_000, 48_000)):
        resampler = Resampler(*rates)
        resampler.end()
        assert len(resampler.end()) == 0
        with pytest.raises(ValueError, match="has ended"):
            resampler.push(sine(16_000, 0.1))


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
def test_a_level_is_root_mean_square(pcm: np.ndarray, expected: float) -> None:
    assert level_db(pcm) == pytest.approx(expected, abs=0.01)


def test_a_ramp_ends_where_it_should() -> None:
    assert ramp(1.0, 0.0, 4).tolist() == [0.75, 0.5, 0.25, 0.0]
    assert len(ramp(1.0, 0.0, 0)) == 0
