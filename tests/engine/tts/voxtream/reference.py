"""Weights and a sound that a reference implementation and ours were given alike.

Invariant: functions of seeds alone, of torch's random numbers on the processor.
"""

import torch
from torch import Tensor

from engine.tts.speaker.redimnet import ReDimNet, SpeakerConfig


def random_redimnet() -> ReDimNet:
    """Size M; also what begins as 0 or 1 has values, so that it shows where it is used."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        model = ReDimNet(SpeakerConfig()).eval().requires_grad_(False)
        for key, tensor in model.state_dict().items():
            if tensor.is_floating_point() and not key.startswith("spec."):
                tensor += 0.05 * torch.randn(tensor.shape)
                if key.endswith("running_var"):
                    tensor.abs_()
    return model


def some_sound() -> Tensor:
    """A second and a half of noise that grows, [S] at 16 kHz."""
    noise = torch.randn(24_000, generator=torch.Generator().manual_seed(0))
    return noise * 0.1 * torch.linspace(0, 1, 24_000)
