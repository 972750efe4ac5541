"""Tokens of known phones, on spectra made up of nothing."""

import numpy as np
import pytest

from engine.codec.mel import BANDS
from engine.training.smlle.tokens import Codebook, TokenUtterance, _cluster, said_by

WIDTH = 2 * BANDS


def steps(speaker: int, *rows: tuple[int, float]) -> TokenUtterance:
    """A phone and the level of its columns, a step each."""
    phones, nothing = np.array([phone for phone, _ in rows]), np.zeros(0, np.int16)
    mel = np.repeat([level for _, level in rows], 2)[:, None] * np.ones(BANDS)
    places = np.arange(1, len(rows) + 1)
    return TokenUtterance(speaker, nothing, nothing, mel, places, phones, nothing)


def test_a_token_is_said_by_the_phone_that_sounds_in_its_middle():
    starts = np.asarray([1000, 1500, 4000])
    assert said_by(starts, 5000, 7).tolist() == [0, 1, 2, 2, 3, 4, 4]


def test_a_token_names_its_phone_and_the_nearest_shape_whoever_speaks():
    shapes = np.array([[-1.0, 1.0], [0.0, 3.0], [0.0, 0.0], [0.0, 0.0]])[..., None] * np.ones(WIDTH)
    means = np.array([[0.0, 5.0, 0.0, 0.0], [10.0, 20.0, 0.0, 0.0]])[..., None] * np.ones(WIDTH)
    book = Codebook(np.array([4, 7]), means.astype(np.float32), shapes.astype(np.float32))
    one = book.tokens(steps(4, (0, -0.8), (0, 0.7), (1, 5.4), (1, 7.6)))
    other = book.tokens(steps(7, (0, 9.2), (0, 10.7), (1, 20.4), (1, 22.6)))
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
