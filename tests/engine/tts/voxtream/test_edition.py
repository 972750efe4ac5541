"""What the published editions differ in, against numbers of their own code."""

import math
from dataclasses import replace

import pytest
import torch

from engine.nn.sampling import race_noise
from engine.tts.speaker.recording import making
from engine.tts.voxtream.config import GENERATION
from engine.tts.voxtream.edition import EDITIONS
from engine.tts.voxtream.files.place import PUBLISHED, VOXTREAM2, VOXTREAM2_1
from engine.tts.voxtream.network.model import Controls, VoxtreamModel
from engine.tts.voxtream.rate import DurationState, RateTarget
from tests.engine.tts.voxtream.small_model import SMALL

NEW, OLD = EDITIONS[VOXTREAM2_1], EDITIONS[VOXTREAM2]
TARGET = RateTarget((21, 43, 4, 13, 1, 2), 0.7, 2.0)
HISTORY = (0, 0, 1, 3, 5, 1, 1, 0, 2, 2)
# What sample_semantic_token of either code computes of logits() with this target and history:
# probabilities of the duration tokens, then (token, semantic code) drawn with seeds 0, 1, 2...
PROBABILITIES = {
    VOXTREAM2: (0.1919851, 0.2648979, 0.1300918, 0.1778313, 0.1164742, 0.1187197),
    VOXTREAM2_1: (0.20513, 0.3974672, 0.07261273, 0.2102394, 0.05672846, 0.05782207),
}
DRAWN = {
    VOXTREAM2: ((3, 1393), (1, 390), (0, 544), (1, 390), (3, 858), (0, 544), (1, 390), (1, 390)),
    VOXTREAM2_1: ((0, 544), (1, 390), (3, 1393), (1, 390), (0, 544), (3, 1393), (1, 390), (1, 390)),
}


def logits() -> torch.Tensor:
    """Of both rows, [2, N, V]."""
    return torch.randn(2, 6, 2050, generator=torch.Generator().manual_seed(5)) * 2


def pull(name: str) -> torch.Tensor:
    state = DurationState(6, 38)
    for token in HISTORY:
        state.observe(token)
    return torch.tensor(state.pull(TARGET, EDITIONS[name].generation.pull_scale))


@pytest.fixture(scope="module")
def model() -> VoxtreamModel:
    made = VoxtreamModel(SMALL, GENERATION)
    made.joint_logits = lambda hidden: logits()  # type: ignore[method-assign]
    return made


@pytest.mark.parametrize("name", PUBLISHED)
def test_a_rate_bends_duration_as_in_its_own_code(model: VoxtreamModel, name: str) -> None:
    found = model.token_probabilities(logits()[0], pull(name))[0].tolist()
    assert found == pytest.approx(PROBABILITIES[name], rel=1e-4)


@pytest.mark.parametrize("name", PUBLISHED)
def test_seeded_draws_are_those_of_the_editions_own_code(model: VoxtreamModel, name: str) -> None:
    drawn = []
    for seed in range(len(DRAWN[name])):
        generator = torch.Generator().manual_seed(seed)
        noise = race_noise(6, generator), race_noise(5, generator)
        choice = model.choose(
            torch.empty(2, 64), Controls(torch.tensor(TARGET.guidance), pull(name), *noise)
        )
        drawn.append((int(choice.token), int(choice.code)))
    assert tuple(drawn) == DRAWN[name]


def test_the_guidance_of_the_new_edition_is_two_and_a_half_times_as_strong() -> None:
    assert OLD.generation.pull_scale == pytest.approx(1 / math.log(10))
    assert NEW.generation.pull_scale == pytest.approx(1 / 0.9)
    cooler = NEW.tempered(replace(NEW.generation, temperature=0.5))
    assert cooler.generation.pull_scale == pytest.approx(2.0)
    same = OLD.tempered(replace(OLD.generation, temperature=0.5))
    assert same.generation.pull_scale == OLD.generation.pull_scale


def test_voices_of_the_two_editions_are_made_differently() -> None:
    assert (OLD.loudness, NEW.loudness) == (None, -23.0)
    assert making(OLD.loudness) != making(NEW.loudness) == "3 at -23 LUFS"
