"""Critics that tell real sound from made one, whatever they look at."""

import random
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

from engine.nn.optimiser import AdamW
from engine.training.codec.sound_losses import (
    Critic,
    SoundLearner,
    critic_loss,
    feature_loss,
    fooling_loss,
)
from engine.training.corpus.speakers import Sides
from engine.training.recipe import Schedule, Sound
from engine.training.run import Run


def tones(hz: float) -> Tensor:
    """Two tones of 0.2 s [2, S]."""
    turns = torch.arange(4800) * hz / 24_000
    return torch.stack((turns, 1.5 * turns)).mul(2 * torch.pi).sin() * 0.3


def noises(seed: int) -> Tensor:
    return torch.randn(2, 4800, generator=torch.Generator().manual_seed(seed)) * 0.1


def test_a_critic_learns_to_tell_tones_from_noise():
    torch.manual_seed(1)
    critic = Critic(channels=8)
    descent = AdamW(critic.parameters(), 3e-3)
    for step in range(40):
        descent.zero_grad()
        critic_loss(critic(tones(300.0 + step)), critic(noises(step))).backward()
        descent.step()
    with torch.no_grad():
        real, made = critic(tones(320.5)), critic(noises(100))
        assert float(critic_loss(real, made)) < 1.0
        assert float(fooling_loss(real)) < float(fooling_loss(made)) - 1.0
        assert float(feature_loss(real, critic(tones(330.0)))) < float(feature_loss(real, made))


class Maker(SoundLearner):
    """One linear layer that makes a sound."""

    averaged = "sound"

    def __init__(self, since: float) -> None:
        schedule = Schedule(steps=20, batch=1, learning_rate=1e-3)
        recipe, self.making = Sound(schedule, adversary_from=since), nn.Linear(1, 4800)
        super().__init__(Run(None, Path()), recipe, Sides({}, {}), sound=self.making)

    def _losses(self, side: object, draw: object) -> tuple[Tensor, Tensor, dict[str, Tensor]]:
        pcm, output = noises(1), self.making(torch.ones(2, 1))
        return pcm, output, {"mel": (output - pcm).abs().mean()}


@pytest.mark.parametrize(("since", "share"), [(1.0, 0.9), (0.3, 0.2), (0.3, 0.4)])
def test_a_critic_joins_at_a_share_of_the_schedule(since, share):
    report = Maker(since).learn(share, random.Random(1))
    assert ("critic" in report) == (share > since)
