"""Critics that tell real sound from made one, whatever they look at."""

import random

import pytest
import torch
from torch import Tensor, nn

from engine.training.codec.sound_losses import (
    Critic,
    Criticism,
    critic_loss,
    feature_loss,
    fooling_loss,
)
from engine.training.loop import StepContext
from engine.training.ranks import Ranks
from engine.training.recipe import Decoder, Schedule


def tones(hz: float) -> Tensor:
    """Two tones of 0.2 s [2, S]."""
    turns = torch.arange(4800) * hz / 24_000
    return torch.stack((turns, 1.5 * turns)).mul(2 * torch.pi).sin() * 0.3


def noises(seed: int) -> Tensor:
    return torch.randn(2, 4800, generator=torch.Generator().manual_seed(seed)) * 0.1


@pytest.mark.parametrize("of", ["mel", pytest.param("spectra", marks=pytest.mark.long)])
def test_a_critic_learns_to_tell_tones_from_noise(of: str) -> None:
    torch.manual_seed(1)
    critic = Critic(of, channels=8)
    descent = torch.optim.AdamW(critic.parameters(), 3e-3)
    for step in range(40):
        descent.zero_grad()
        critic_loss(critic(tones(300.0 + step)), critic(noises(step))).backward()
        descent.step()
    with torch.no_grad():
        real, made = critic(tones(320.5)), critic(noises(100))
        assert float(critic_loss(real, made)) < 1.0
        assert float(fooling_loss(real)) < float(fooling_loss(made)) - 1.0
        assert float(feature_loss(real, critic(tones(330.0)))) < float(feature_loss(real, made))


@pytest.mark.parametrize("of", ["mel", pytest.param("spectra", marks=pytest.mark.long)])
def test_what_a_critic_says_reaches_the_sound(of: str) -> None:
    torch.manual_seed(1)
    critic = Critic(of, channels=8)
    made = noises(1).requires_grad_()
    (fooling_loss(critic(made)) + feature_loss(critic(tones(300.0)), critic(made))).backward()
    assert made.grad is not None
    assert torch.isfinite(made.grad).all()
    assert float(made.grad.abs().mean()) > 0


@pytest.mark.parametrize(
    ("since", "step", "share", "joined"),
    [(9, 8, 0.9, False), (9, 9, 0.1, True), (0.3, 9, 0.2, False), (0.3, 9, 0.4, True)],
)
def test_a_critic_joins_at_a_step_or_at_a_share_of_the_schedule(
    since: float, step: int, share: float, joined: bool
) -> None:
    schedule = Schedule(steps=20, batch=1, learning_rate=1e-3)
    making, cpu = nn.Linear(1, 4800), torch.device("cpu")
    criticism = Criticism(Decoder(schedule, adversary_from=since), making, cpu)
    pcm = noises(1)
    output = making(torch.ones(2, 1))
    losses = {"mel": (output - pcm).abs().mean()}
    context = StepContext(step, share, random.Random(1), Ranks(0, 1, cpu))
    assert ("critic" in criticism.optimise(losses, pcm, output, context)) == joined
