"""The rate table: what the corpus does at each rate, with rows it lacks lent by neighbours."""

import numpy as np

from engine.training.recipe import Export
from engine.training.voice.rate_table import COUNTS, measured_rates
from engine.training.voice.utterances import Encoded


def spoken(token: int, syllable_every: int, frames: int = 76) -> Encoded:
    """An utterance of one duration token, after a first step onto its first phone."""
    tokens = np.full(frames, token, np.int8)
    tokens[0] = 2
    steps = {0: 0, 2: 1, 3: 2}[token]
    phones = 1 + steps * (frames - 1)
    nuclei = (np.arange(phones) % syllable_every == 0).astype(np.int8)
    empty = np.zeros((2, frames), np.int16)
    return Encoded(
        0, 1, empty, empty, np.zeros(4, np.float32), tokens, np.zeros(phones, np.int16), nuclei,
        np.zeros((0, 2), np.int16),
    )  # fmt: skip


def test_fast_speech_fills_the_fast_rows_and_slow_speech_the_slow_ones() -> None:
    slow, fast = spoken(2, 6), spoken(3, 4)  # about 2.1 and 6.2 SPS
    table = measured_rates([slow] * 20 + [fast] * 20, Export())
    assert table[2.0].counts[2] > 0.9 * COUNTS
    assert table[6.0].counts[3] > 0.9 * COUNTS


def test_a_rate_nobody_spoke_borrows_from_the_nearest() -> None:
    table = measured_rates([spoken(3, 4)] * 20, Export())
    assert table[1.0].counts == table[6.0].counts
    assert all(min(row.counts) >= 1 for row in table.values())


def test_weight_and_guidance_come_from_the_recipe_and_are_those_of_every_row() -> None:
    table = measured_rates([spoken(3, 4)] * 20, Export(guidance=1.7, weight=3.0))
    assert {(row.weight, row.guidance) for row in table.values()} == {(3.0, 1.7)}
