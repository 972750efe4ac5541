"""Packed acoustic steps choose what the plain model would, rounding aside."""

from dataclasses import replace

import pytest
import torch

from engine.tts.voxtream.config import FULL, GENERATION, INT4, INT8, Profile
from engine.tts.voxtream.files.checkpoint import RandomWeights, load_weights
from engine.tts.voxtream.network.model import VoxtreamModel
from engine.tts.voxtream.prompt import rotary_tables
from tests.engine.tts.voxtream.small_model import SMALL, TARGET

WIDE = replace(
    SMALL,
    temporal=replace(SMALL.temporal, width=256),
    depth=replace(SMALL.depth, width=256, hidden=256),
    phone=replace(SMALL.phone, width=256, hidden=256),
)


def model(profile: Profile) -> VoxtreamModel:
    weights = RandomWeights(WIDE, 0)
    return load_weights(weights, WIDE, GENERATION, profile, TARGET)


def hidden(seed: int) -> torch.Tensor:
    return torch.randn(2, WIDE.width, generator=torch.Generator().manual_seed(seed))


def logits(profile: Profile) -> torch.Tensor:
    made = model(profile)
    codes = torch.tensor([7, 8, 9, 2047])
    return made.acoustic_logits(hidden(1), codes, rotary_tables(made).depth, made.acoustic_memory())


@pytest.mark.parametrize(
    ("profile", "loss"),
    [(INT8, 0.03), (replace(INT8, depth=INT4.depth), 0.3)],
    ids=["8 bits", "4 bits"],
)
def test_packed_logits_follow_the_plain_ones(profile, loss):
    found, expected = logits(profile), logits(FULL)
    assert found.shape == expected.shape == (3, WIDE.codes)
    assert (found - expected).norm() / expected.norm() < loss


@pytest.mark.parametrize("profile", [FULL, INT8], ids=["plain", "packed"])
def test_every_code_is_the_best_given_those_before(profile):
    made = model(profile)
    table, memory = rotary_tables(made).depth, made.acoustic_memory()
    for seed in (1, 2):
        found = made.acoustic_codes(hidden(seed), torch.tensor([[5]]), table, memory)
        codes = torch.cat((torch.tensor([5]), found[0]))
        best = made.acoustic_logits(hidden(seed), codes, table, memory).argmax(-1)
        assert best.tolist() == found[0].tolist()
