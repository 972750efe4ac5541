"""How far two sounds are apart, to the ear and to a critic.

Invariant: losses take samples [B, S] of the same length and give one number.
"""

from typing import Final

import torch
from torch import Tensor, nn
from torch.nn import functional

from engine.codec.small_parts import mel_filters

RESOLUTIONS: Final = (256, 512, 1024, 2048)  # FFT sizes; hops are a quarter
CRITIC_SIZES: Final = (512, 1024, 2048)
MEL_FFT: Final = 1024
MEL_BANDS: Final = 80
FLOOR: Final = 1e-3  # of magnitudes inside logarithms


class SpectralDistance(nn.Module):
    """Mel distance and distances of spectra at several resolutions."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("filters", mel_filters(MEL_FFT, MEL_BANDS), persistent=False)

    def mel(self, made: Tensor, real: Tensor) -> Tensor:
        """L1 of log mel spectra."""
        filters = self.get_buffer("filters")
        one, other = ((magnitudes(pcm, MEL_FFT) @ filters + FLOOR).log() for pcm in (made, real))
        return functional.l1_loss(one, other)

    def waves(self, made: Tensor, real: Tensor) -> Tensor:
        """Log L1 and spectral convergence, averaged over resolutions."""
        total = made.new_zeros(())
        for size in RESOLUTIONS:
            one, other = magnitudes(made, size), magnitudes(real, size)
            logs = functional.l1_loss((one + FLOOR).log(), (other + FLOOR).log())
            gap = torch.linalg.vector_norm(one - other) / (torch.linalg.vector_norm(other) + FLOOR)
            total = total + logs + gap
        return total / len(RESOLUTIONS)


class Critic(nn.Module):
    """Judges of complex spectra at several resolutions (after EnCodec, Defossez et al., 2022)."""

    def __init__(self, channels: int = 32) -> None:
        super().__init__()
        self.judges = nn.ModuleList(_Judge(size, channels) for size in CRITIC_SIZES)

    def forward(self, pcm: Tensor) -> list[list[Tensor]]:
        """Per judge its inner layers' outputs, the verdict last."""
        return [judge(pcm) for judge in self.judges]


class _Judge(nn.Module):
    def __init__(self, size: int, channels: int) -> None:
        super().__init__()
        self._size = size
        weight = nn.utils.parametrizations.weight_norm
        self.layers = nn.ModuleList(
            weight(nn.Conv2d(entering, leaving, (3, 9), stride=(1, 2), padding=(1, 4)))
            for entering, leaving in ((2, channels), (channels, channels), (channels, channels))
        )
        self.verdict = weight(nn.Conv2d(channels, 1, 3, padding=1))

    def forward(self, pcm: Tensor) -> list[Tensor]:
        x = torch.view_as_real(spectrum(pcm, self._size)).movedim(-1, 1)  # [B, 2, T, F]
        x = x.contiguous(memory_format=torch.channels_last)
        outputs = []
        for layer in self.layers:
            x = functional.leaky_relu(layer(x), 0.2)
            outputs.append(x)
        outputs.append(self.verdict(x).float())
        return outputs


def critic_loss(of_real: list[list[Tensor]], of_made: list[list[Tensor]]) -> Tensor:
    """Hinge loss of the critic."""
    losses = [
        functional.relu(1 - real[-1]).mean() + functional.relu(1 + made[-1]).mean()
        for real, made in zip(of_real, of_made, strict=True)
    ]
    return torch.stack(losses).mean()


def fooling_loss(of_made: list[list[Tensor]]) -> Tensor:
    """Hinge loss of what the critic judges."""
    return torch.stack([-made[-1].mean() for made in of_made]).mean()


def feature_loss(of_real: list[list[Tensor]], of_made: list[list[Tensor]]) -> Tensor:
    """How far the critic's inner layers tell the two apart, relative to the real one's size."""
    losses = [
        functional.l1_loss(one, other.detach()) / (other.detach().abs().mean() + FLOOR)
        for made, real in zip(of_made, of_real, strict=True)
        for one, other in zip(made[:-1], real[:-1], strict=True)
    ]
    return torch.stack(losses).mean()


def spectrum(pcm: Tensor, size: int) -> Tensor:
    """Complex spectra [B, T, size / 2 + 1]."""
    window = torch.hann_window(size, device=pcm.device)
    made = torch.stft(
        pcm.float(), size, size // 4, window=window, normalized=True, return_complex=True
    )
    return made.transpose(1, 2)


def magnitudes(pcm: Tensor, size: int) -> Tensor:
    """|spectrum|, with a gradient also where it is zero."""
    found = spectrum(pcm, size)
    return (found.real.square() + found.imag.square() + 1e-9).sqrt()
