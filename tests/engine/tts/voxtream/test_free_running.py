"""Ours, running freely, draws what the public VoXtream2.1 drew (tests/parity): 60 frames of every
scenario, where one other code or token would change all that follow.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from engine.codec.mimi import random_mimi
from engine.tts.voxtream.config import VOXTREAM2_SHAPE
from tests.engine.tts.voxtream.small_model import SMALL, small_mimi
from tests.parity.free_running import KEPT, LOGIT_STRIDE, OF_SIZE, SCENARIOS, Ours
from tests.parity.reference import SoundingWeights

THEIRS = json.loads(
    (Path(__file__).parents[3] / "parity" / "free_running.json").read_text(encoding="utf-8")
)


@pytest.fixture(scope="module")
def small() -> Iterator[Ours]:
    with torch.inference_mode():
        yield Ours(SoundingWeights(SMALL, 0), SMALL, small_mimi())


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_small_voice_says_what_its_authors_code_says(small, name):
    assert small.codes.tolist() == THEIRS["small"]["prompt"]
    assert_same(small, name, THEIRS["small"])


@pytest.fixture(scope="module")
def full() -> Iterator[Ours]:
    """Needs 4 GB of memory."""
    with torch.inference_mode():
        weights, mimi = SoundingWeights(VOXTREAM2_SHAPE, 0), random_mimi(16, 0)
        yield Ours(weights, VOXTREAM2_SHAPE, mimi)


@pytest.mark.long
@pytest.mark.timeout(1200)  # a frame takes a second and more
@pytest.mark.parametrize("name", OF_SIZE["full"])
def test_the_full_size_voice_says_what_its_authors_code_says(full, name):
    assert full.codes.tolist() == THEIRS["full"]["prompt"]
    assert_same(full, name, THEIRS["full"])


def assert_same(ours: Ours, name: str, theirs: dict[str, Any]) -> None:
    frames, logits = ours.run(SCENARIOS[name])
    found = [[frame.token, frame.semantic, frame.acoustic] for frame in frames]
    assert found == theirs[name]["frames"]
    for at, wanted in zip(KEPT, theirs[name]["logits"], strict=True):
        assert logits[at][::LOGIT_STRIDE].tolist() == pytest.approx(wanted, abs=1e-5)
