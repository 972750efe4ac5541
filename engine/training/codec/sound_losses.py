"""How much two sounds differ, to the ear and to a critic, which learns beside what it criticises to
tell made from real speech.

Invariant: losses take samples [B, S] of the same length and give one number.
"""

from collections.abc import Sequence
from typing import Final

import torch
from torch import Tensor, nn
from torch.nn import functional

from engine.codec.small_parts import mel_filters
from engine.training import recipe as recipes
from engine.training.loop import (
    ADVERSARIAL_BETAS,
    BETAS,
    Losses,
    StepContext,
    in_bf16,
    optimiser,
    optimiser_step,
)
from engine.training.ranks import Ranks

RESOLUTIONS: Final = (256, 512, 1024, 2048)  # FFT sizes; hops are a quarter
CRITIC_SIZES: Final = (512, 1024, 2048)
CRITIC_BANDS: Final = {512: 64, 1024: 96, 2048: 160}  # mel bands by FFT size
MEL_FFT: Final = 1024
MEL_BANDS: Final = 80
FLOOR: Final = 1e-3  # of magnitudes inside logarithms
LOG_MIDDLE, LOG_SPREAD = 4.0, 2.0  # mean and deviation that normalise their logarithms


class SpectralDistance(nn.Module):
    """Mel distance and distances of spectra at several resolutions."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("filters", mel_filters(MEL_FFT, MEL_BANDS), persistent=False)

    def mel(self, output: Tensor, real: Tensor) -> Tensor:
        """L1 of log mel spectra."""
        filters = self.get_buffer("filters")
        one, other = ((magnitudes(pcm, MEL_FFT) @ filters + FLOOR).log() for pcm in (output, real))
        return functional.l1_loss(one, other)

    def waves(self, output: Tensor, real: Tensor) -> Tensor:
        """Log L1 and spectral convergence, averaged over resolutions."""
        total = output.new_zeros(())
        for size in RESOLUTIONS:
            one, other = magnitudes(output, size), magnitudes(real, size)
            logs = functional.l1_loss((one + FLOOR).log(), (other + FLOOR).log())
            gap = torch.linalg.vector_norm(one - other) / (torch.linalg.vector_norm(other) + FLOOR)
            total = total + logs + gap
        return total / len(RESOLUTIONS)


class Critic(nn.Module):
    """Judges at several resolutions (after EnCodec, Defossez et al., 2022), of mel spectra or of
    complex ones. A decoder of pulses and filters has the right phases anyway and needs only the
    former.
    """

    def __init__(self, of: str = "mel", channels: int = 24) -> None:
        super().__init__()
        judge = {"mel": _MelJudge, "spectra": _SpectraJudge}[of]
        self.judges = nn.ModuleList(judge(size, channels) for size in CRITIC_SIZES)

    def forward(self, pcm: Tensor) -> list[list[Tensor]]:
        """For each judge the outputs of its inner layers, the verdict last."""
        return [judge(pcm) for judge in self.judges]


class _Judge(nn.Module):
    """Convolutions over time and frequency; `shapes` (entering, leaving, kernel, stride)."""

    def __init__(self, shapes: Sequence[tuple[int, int, tuple[int, int], tuple[int, int]]]) -> None:
        super().__init__()
        weight = nn.utils.parametrizations.weight_norm
        self.layers = nn.ModuleList(
            weight(nn.Conv2d(entering, leaving, kernel, stride, (kernel[0] // 2, kernel[1] // 2)))
            for entering, leaving, kernel, stride in shapes
        )
        self.verdict = weight(nn.Conv2d(shapes[-1][1], 1, 3, padding=1))

    def scores(self, picture: Tensor) -> list[Tensor]:
        """The layers' outputs for a spectrogram [B, C, T, F]."""
        x = picture.contiguous(memory_format=torch.channels_last)
        outputs = []
        for layer in self.layers:
            x = functional.leaky_relu(layer(x), 0.2)
            outputs.append(x)
        outputs.append(self.verdict(x).float())
        return outputs


class _SpectraJudge(_Judge):
    def __init__(self, size: int, channels: int) -> None:
        inner = (channels, channels, (3, 9), (1, 2))
        super().__init__(((2, channels, (3, 9), (1, 2)), inner, inner))
        self._size = size

    def forward(self, pcm: Tensor) -> list[Tensor]:
        return self.scores(torch.view_as_real(spectrum(pcm, self._size)).movedim(-1, 1))


class _MelJudge(_Judge):
    def __init__(self, size: int, channels: int) -> None:
        super().__init__(
            (
                (1, channels, (3, 5), (1, 2)),
                (channels, channels, (3, 5), (1, 2)),
                (channels, 2 * channels, (3, 5), (2, 2)),
                (2 * channels, 2 * channels, (3, 3), (1, 2)),
            )
        )
        self._size = size
        self.register_buffer("filters", mel_filters(size, CRITIC_BANDS[size]), persistent=False)

    def forward(self, pcm: Tensor) -> list[Tensor]:
        logs = (magnitudes(pcm, self._size) @ self.get_buffer("filters") + FLOOR).log()
        return self.scores((logs[:, None] + LOG_MIDDLE) / LOG_SPREAD)


def critic_loss(of_real: list[list[Tensor]], of_made: list[list[Tensor]]) -> Tensor:
    """Hinge loss of the critic."""
    losses = [
        functional.relu(1 - real[-1]).mean() + functional.relu(1 + output[-1]).mean()
        for real, output in zip(of_real, of_made, strict=True)
    ]
    return torch.stack(losses).mean()


def fooling_loss(of_made: list[list[Tensor]]) -> Tensor:
    """Hinge loss of the decoder that the critic judges."""
    return torch.stack([-output[-1].mean() for output in of_made]).mean()


def feature_loss(of_real: list[list[Tensor]], of_made: list[list[Tensor]]) -> Tensor:
    """How far the critic's inner layers tell the two apart, relative to the real one's size."""
    losses = [
        functional.l1_loss(one, other.detach()) / (other.detach().abs().mean() + FLOOR)
        for output, real in zip(of_made, of_real, strict=True)
        for one, other in zip(output[:-1], real[:-1], strict=True)
    ]
    return torch.stack(losses).mean()


def spectrum(pcm: Tensor, size: int) -> Tensor:
    """Complex spectra [B, T, size / 2 + 1]."""
    window = torch.hann_window(size, device=pcm.device)
    bins = torch.stft(
        pcm.float(), size, size // 4, window=window, normalized=True, return_complex=True
    )
    return bins.transpose(1, 2)


def magnitudes(pcm: Tensor, size: int) -> Tensor:
    """|spectrum|, with a gradient also where it is zero."""
    bins = spectrum(pcm, size)
    return (bins.real.square() + bins.imag.square() + 1e-9).sqrt()


class Criticism:
    """The critic of a recipe, with the optimisers of both sides."""

    def __init__(self, recipe: recipes.Decoder, making: nn.Module, device: torch.device) -> None:
        self._recipe = recipe
        self.critic = Critic(recipe.critic).to(device)
        betas = ADVERSARIAL_BETAS if recipe.adversary_from < recipe.schedule.steps else BETAS
        self.optimisers = {
            "making": optimiser(making, recipe.schedule, betas=betas),
            "critic": optimiser(
                self.critic, recipe.schedule, betas=betas, scale=recipe.critic_rate
            ),
        }

    def optimise(
        self, losses: dict[str, Tensor], pcm: Tensor, output: Tensor, context: StepContext
    ) -> Losses:
        """One step of what makes the output [B, S] of samples [B, S], and of the critic once it is
        due; the losses to report.
        """
        recipe = self._recipe
        total = torch.stack(list(losses.values())).sum()
        report = {name: loss.detach() for name, loss in losses.items()}
        since = recipe.adversary_from
        if (context.share if since < 1 else context.step) >= since:
            windows = slice(recipe.critic_windows)
            report["critic"] = self._teach(pcm[windows], output[windows], context.ranks)
            total = total + self._criticised(pcm[windows], output[windows])
        optimiser_step(total, self.optimisers["making"], recipe.schedule.clip, context.ranks)
        return report

    def _teach(self, pcm: Tensor, output: Tensor, ranks: Ranks) -> Tensor:
        with in_bf16(pcm.device, asked=self._recipe.schedule.bf16):
            loss = critic_loss(self.critic(pcm), self.critic(output.detach()))
        optimiser_step(loss, self.optimisers["critic"], self._recipe.schedule.clip, ranks)
        return loss.detach()

    def _criticised(self, pcm: Tensor, output: Tensor) -> Tensor:
        self.critic.requires_grad_(requires_grad=False)
        with in_bf16(pcm.device, asked=self._recipe.schedule.bf16):
            of_made = self.critic(output)
            with torch.no_grad():
                of_real = self.critic(pcm)
            loss = self._recipe.adversary * fooling_loss(of_made)
            loss = loss + self._recipe.features * feature_loss(of_real, of_made)
        self.critic.requires_grad_(requires_grad=True)
        return loss
