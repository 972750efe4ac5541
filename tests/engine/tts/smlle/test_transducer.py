"""Decisions: the limits that keep them moving, and what decides how long phones last."""

from dataclasses import replace
from functools import cache

import pytest
import torch

from engine.tts.smlle.aligned import Aligned
from engine.tts.smlle.config import Generation
from engine.tts.smlle.transducer import Decisions, Unit
from tests.engine.tts.smlle.small import GENERATION, SHAPE, small_parts

PARTS = cache(small_parts)
UNITS = [Unit(SHAPE.begin), *(Unit(phone) for phone in (3, 14, 15, 9, 2, 6)), Unit(SHAPE.end)]


def decided(
    units: list[Unit], *, bias: float = 0.0, generation: Generation = GENERATION, seed: int = 1
) -> list[list[int]]:
    """Tokens of every unit."""
    parts = PARTS()
    dice = torch.Generator().manual_seed(seed)
    decisions = Decisions(parts.transducer, parts.text_rotation, generation, dice)
    spoken = []
    with torch.inference_mode():
        for unit in units:
            decisions.read(unit)
            spoken.append([])
            while (token := decisions.decide(bias)) is not None:
                spoken[-1].append(token)
    return spoken


def test_a_phone_that_never_waits_is_left_and_one_that_only_waits_must_speak():
    """The first unit after four silent ones, and then every fifth."""
    limited = replace(GENERATION, most_tokens=7)
    assert [len(tokens) for tokens in decided(UNITS, bias=-50, generation=limited)] == [7] * 8
    spoken = decided(UNITS * 2, bias=50)
    assert [place for place, tokens in enumerate(spoken) if tokens] == [4, 9, 14]


def test_a_temperature_of_the_tokens_leaves_the_lengths_of_the_phones_as_they_are():
    """Among labels of which most are tokens, a low one would prefer the single blank."""
    lengths = {}
    for temperature in (1.0, 0.05):
        cool = replace(GENERATION, temperature=temperature)
        said = [decided(UNITS, generation=cool, seed=seed) for seed in range(12)]
        lengths[temperature] = sum(len(tokens) for each in said for tokens in each)
    assert lengths[0.05] == pytest.approx(lengths[1.0], rel=0.25)


B, E = 100, 101  # begin and end


def test_a_step_is_known_as_soon_as_the_phone_it_hears_has_spoken():
    aligned = Aligned(B, E, delete_bos=True)
    for token, phone in enumerate((B, B)):
        aligned.add(token, phone)
        assert not aligned.has(0)
    aligned.add(2, 7)
    assert aligned.has(0)
    assert not aligned.has(1)
    assert aligned.phone(0) == 7
