"""Splices: whatever is put together says what its units say."""

import random

import numpy as np
import pytest

from engine.training.llmvox.encode import Encoded, spliced
from engine.tts.llmvox.config import WORD


def sentence(number: int) -> Encoded:
    """Three words of two phones, each three tokens long; a token is its unit and the sentence."""
    units, onsets, said = [], [], [-1, -1]
    for word in range(3):
        onsets.append(len(said))
        said += [len(units)] * 3 + [len(units) + 1] * 3
        units += [10 * number + 2 * word, 10 * number + 2 * word + 1, WORD]
    tokens = [0 if place < 0 else units[place] for place in said]
    arrays = (np.asarray(each, np.int32) for each in (tokens, units, onsets, said))
    return Encoded(1, *arrays, np.zeros(4, np.float32))


PERSON = tuple(map(sentence, range(1, 6)))


@pytest.mark.parametrize("seed", range(20))
def test_every_token_of_a_splice_says_its_unit(seed: int) -> None:
    made = spliced(PERSON, random.Random(seed))
    first = int(made.onsets[0])
    assert (made.said[:first] == -1).all()
    assert np.array_equal(made.units[made.said[first:]], made.tokens[first:])
    assert len(made.onsets) == (made.units == WORD).sum()
    starts = np.flatnonzero(np.r_[True, made.units[:-1] == WORD])
    assert np.array_equal(made.said[made.onsets], starts)


@pytest.mark.parametrize("seed", range(20))
def test_a_splice_begins_and_ends_as_its_sentences_do(seed: int) -> None:
    made = spliced(PERSON, random.Random(seed))
    assert made.units[0] % 10 == 0
    assert made.units[-2] % 10 == 5


def test_splices_mix_sentences() -> None:
    made = [spliced(PERSON, random.Random(seed)) for seed in range(10)]
    assert any(len({unit // 10 for unit in each.units if unit != WORD}) > 1 for each in made)
