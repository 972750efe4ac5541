"""Tokens of known phones, on spectra made up of nothing."""

import numpy as np
import pytest

from engine.codec.mel import BANDS
from engine.training.smlle.tokens import Codebook, TokenSteps, _cluster, said_by

WIDTH = 2 * BANDS


def steps(*rows: tuple[int, float]) -> TokenSteps:
    """A phone and the level of its columns, a step each."""
    phones, levels = (
        np.array([int(phone) for phone, _ in rows]),
        np.array([each for _, each in rows]),
    )
    mel = np.repeat(levels, 2)[:, None] * np.ones(BANDS, np.float32)
    return TokenSteps(
        phones, np.arange(len(phones)), mel.astype(np.float32), np.zeros((0, 2), np.int64)
    )


def test_a_token_is_said_by_the_phone_that_sounds_in_its_middle():
    starts = np.asarray([1000, 1500, 4000])
    assert said_by(starts, 5000, 7).tolist() == [0, 1, 2, 2, 3, 4, 4]


def test_a_token_names_its_phone_and_the_nearest_shape_whoever_speaks():
    shapes = np.array([[-1.0, 1.0], [0.0, 3.0]])[..., None] * np.ones(WIDTH)
    means = np.array([[0.0, 5.0], [10.0, 20.0]])[..., None] * np.ones(WIDTH)
    book = Codebook(np.array([4, 7]), means.astype(np.float32), shapes.astype(np.float32))
    one = book.tokens(4, steps((0, -0.8), (0, 0.7), (1, 5.4), (1, 7.6)))
    other = book.tokens(7, steps((0, 9.2), (0, 10.7), (1, 20.4), (1, 22.6)))
    assert one.tolist() == other.tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("rows", [1, 3, 200])
def test_shapes_are_where_the_rows_are(rows):
    dice = np.random.default_rng(1)
    centres = dice.normal(size=(4, WIDTH))
    some = centres[np.arange(rows) % 4] + 1e-3 * dice.normal(size=(rows, WIDTH))
    found = _cluster(some.astype(np.float32), 4, dice)
    assert found.shape == (4, WIDTH)
    for row in some:
        assert np.abs(found - row).max(axis=1).min() < 0.01
