"""LLMVoX's stages on a few seconds of speech and a few steps: they run, the pack speaks, and what
is learnt is what a session does.
"""

import random
from typing import Any

import numpy as np
import pytest
import torch

from engine.nn.transformer import KvCache
from engine.training.corpus.speakers import flat
from engine.training.llmvox.data import SentenceUtterance, splice
from engine.training.llmvox.losses import LlmVoxLearner, collated, predict
from engine.training.run import Run
from engine.training.utterances import read_sides
from tests.engine.training.conftest import by_heart, last
from tests.engine.tts.llmvox.small_model import STACK, random_network

Ints = np.ndarray[Any, np.dtype[Any]]
WORD, TEXT_END, NOTHING = 256, 257, 258


def sentence(tokens: int, units: int) -> SentenceUtterance:
    draw = np.random.default_rng(tokens)
    made = draw.integers(0, 24, tokens).astype(np.int16)
    units_ = np.asarray([*draw.integers(0, 100, units - 3), WORD, 5, WORD], np.int16)
    said = np.asarray([-1, 0, 0, 0, *[units - 2] * (tokens - 4)], np.int16)
    vector = draw.normal(0, 1, 192).astype(np.float32)
    return of_units(made, units_, np.asarray([1, 4], np.int32), said, vector)


def of_units(tokens: Ints, units: Ints, onsets: Ints, said: Ints, vector: Any) -> SentenceUtterance:
    """A sentence without the part that its spectrum is learnt from."""
    nothing = np.zeros(0, np.int16)
    return SentenceUtterance(
        1, vector, tokens, nothing, nothing, nothing, nothing, units, onsets, said
    )


def test_every_token_meets_one_unit_and_the_end_follows_the_last():
    one, other = sentence(9, 4), sentence(6, 5)
    batch = collated([one, other], end=24)
    assert batch.units[0].tolist() == [*one.units, TEXT_END, *[NOTHING] * 5]
    assert batch.before[0].tolist() == [24, *one.tokens]
    assert batch.labels[0].tolist() == [*one.tokens, 24]
    assert batch.labels[1].tolist() == [*other.tokens, 24, -1, -1, -1]
    assert batch.onsets[1].tolist() == [0, 1, 0, 0, 1, 0, 0, 0, 0, 0]
    assert batch.guide[0].tolist() == [-1, 0, 0, 0, 2, 2, 2, 2, 2, -1]
    assert batch.guide[1].tolist() == [-1, 0, 0, 0, 3, 3, -1, -1, -1, -1]


def test_whole_lessons_and_single_steps_predict_the_same():
    model = random_network()
    batch = collated([sentence(9, 4), sentence(6, 5)], end=model.no_token)
    whole = predict(model, batch, 0.0)
    for row in range(2):
        cache = KvCache(STACK)
        for place in range(7):
            here = (slice(row, row + 1), slice(place, place + 1))
            keep = model.token.keep_masks((1, 1), 0.0, None)
            who = batch.speakers[row : row + 1]
            x = model.enter(batch.units[here], batch.before[here], who, keep)
            found = model.predict(model.step(x, cache))
            assert torch.allclose(found.tokens, whole.tokens[row, place], atol=1e-4)
            assert torch.allclose(found.onset, whole.onset[row, place], atol=1e-4)


@pytest.fixture(scope="module")
def whole(run_of) -> Run:
    return run_of("llmvox")


@pytest.mark.long
def test_every_token_says_a_unit_of_its_own_word(whole):
    sentences = flat(read_sides(whole, SentenceUtterance).training)
    assert sentences
    for each in sentences:
        first = each.onsets[0]
        assert (each.said[:first] == -1).all()
        said = each.said[first:]
        assert (np.diff(said) >= 0).all()
        assert (each.units[said] != WORD).all()
        words = np.searchsorted(np.flatnonzero(each.units == WORD), said)
        spoken = np.searchsorted(each.onsets, np.arange(first, len(each.tokens)), side="right") - 1
        assert np.array_equal(words, spoken)


@pytest.mark.long
def test_one_lesson_is_learnt_by_heart_and_where_the_units_are(whole):
    torch.manual_seed(1)
    losses = by_heart(LlmVoxLearner(whole))
    assert last(losses, "guide") < 0.7
    assert last(losses, "tokens") < 0.7


# ---------------------------------------------------------------------- splices


def numbered(number: int) -> SentenceUtterance:
    """Three words of two phones, each three tokens long; a token is its unit and the sentence."""
    units, onsets, said = [], [], [-1, -1]
    for word in range(3):
        onsets.append(len(said))
        said += [len(units)] * 3 + [len(units) + 1] * 3
        units += [10 * number + 2 * word, 10 * number + 2 * word + 1, WORD]
    tokens = [0 if place < 0 else units[place] for place in said]
    arrays = (np.asarray(each, np.int32) for each in (tokens, units, onsets, said))
    return of_units(*arrays, np.zeros(4, np.float32))


PERSON = tuple(map(numbered, range(1, 6)))


def test_every_token_of_a_splice_says_its_unit():
    """It begins and ends as its sentences do, and mixes them."""
    mixed = set()
    for seed in range(20):
        made = splice(PERSON, random.Random(seed))
        first = int(made.onsets[0])
        assert (made.said[:first] == -1).all()
        assert np.array_equal(made.units[made.said[first:]], made.tokens[first:])
        assert len(made.onsets) == (made.units == WORD).sum()
        starts = np.flatnonzero(np.r_[True, made.units[:-1] == WORD])
        assert np.array_equal(made.said[made.onsets], starts)
        assert (made.units[0] % 10, made.units[-2] % 10) == (0, 5)
        mixed.add(len({unit // 10 for unit in made.units if unit != WORD}))
    assert max(mixed) > 1
