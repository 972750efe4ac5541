"""Tokens drawn for known speech: what a transducer would say there, in lessons that ask for it."""

import random
from dataclasses import replace

import numpy as np
import torch

from engine.training import recipe as recipes
from engine.training.smlle.spectrum import SpectrumLearner
from engine.training.smlle.transducer import Draws
from tests.engine.training.smlle.test_learners import CPU, SCHEDULE, SIDES, utterance
from tests.engine.tts.smlle.small import SHAPE, small_machine


def draws(temperature: float = 1.0) -> Draws:
    return Draws(small_machine().transducer, temperature)


def test_a_draw_is_as_long_as_the_speech_and_has_tokens_alone() -> None:
    torch.manual_seed(1)
    spoken = utterance(2)
    one, other = (draws().tokens(spoken) for _ in range(2))
    assert len(one) == spoken.steps
    assert one.min() >= 0
    assert one.max() < SHAPE.tokens
    assert not np.array_equal(one, other)


def test_a_draw_depends_on_the_true_past_and_on_no_later_token() -> None:
    spoken = utterance(2)
    changed = spoken.tokens.copy()
    changed[10:] += 1
    greedy = draws(temperature=1e-4)
    one, other = greedy.tokens(spoken), greedy.tokens(replace(spoken, tokens=changed))
    assert np.array_equal(one[:11], other[:11])


def test_lessons_have_drawn_tokens_where_the_recipe_asks_for_them() -> None:
    recipe = recipes.Spectrum(schedule=SCHEDULE, width=32, without_prompt=1.0)
    learner = SpectrumLearner(recipe, SHAPE, SIDES, CPU, draws())
    true = [each.tokens.tolist() for each in SIDES.utterances]

    def share_true(drawn: float) -> float:
        lessons = learner._lessons(SIDES.training, random.Random(1), drawn)
        return sum(each.tokens.tolist() in true for each in lessons) / len(lessons)

    assert share_true(0.0) == 1.0
    assert share_true(1.0) == 0.0
