"""Critics that tell real sound from made one, whatever they look at."""

import pytest
import torch
from torch import Tensor

from engine.training.codec.sound_losses import Critic, critic_loss, feature_loss, fooling_loss


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
