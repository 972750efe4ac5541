"""Losses between generated and real speech: distances of spectra, a critic (a GAN discriminator),
and a phone reader. The reader is needed because spectra hardly change where one consonant replaces
another.

Invariant: losses take samples [B, S] of equal length and return one number. The phone reader learns
from real speech only.
"""

import random
from abc import abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Final

import torch
from torch import Tensor, nn
from torch.nn import functional

from engine.codec.mimi import FRAME_SAMPLES
from engine.codec.small_parts import mel_filters
from engine.codec.source import SourceDecoder
from engine.training.codec.speech import SLOT, SOUND_NUMBERS, Speech, Utterances
from engine.training.corpus.speakers import flat
from engine.training.loop import Learner, Losses, optimiser, optimiser_step
from engine.training.recipe import Sound
from engine.training.run import Run

ADVERSARIAL_BETAS: Final = (0.8, 0.98)  # forget gradients of an earlier critic soon
SLOTS: Final = FRAME_SAMPLES // SLOT  # sounds read from one frame
RESOLUTIONS: Final = (256, 512, 1024, 2048)  # FFT sizes; hops are a quarter
CRITIC_SIZES: Final = (512, 1024, 2048)
CRITIC_BANDS: Final = {512: 64, 1024: 96, 2048: 160}  # mel bands by FFT size
MEL_FFT: Final = 1024
MEL_BANDS: Final = 80
FLOOR: Final = 1e-3  # of magnitudes inside logarithms
WAVES_WEIGHT: Final = 0.5  # of multi-resolution spectra; mel spectra have 1
PITCH_WEIGHT: Final = 4.0  # of the source's log pitch in voiced parts
FEATURES_WEIGHT: Final = 2.0  # of the critic's inner layers; its verdict has 1
LOG_MIDDLE, LOG_SPREAD = 4.0, 2.0  # mean and deviation that normalise their logarithms
Verdicts = list[list[Tensor]]  # outputs of each discriminator's layers, the verdict last
Made = tuple[Tensor, Tensor, Losses]  # samples [B, S], a network's samples [B, S], its losses


_filters = cache(lambda size, bands, device: mel_filters(size, bands).to(device))


def mel_distance(output: Tensor, real: Tensor) -> Tensor:
    """Return the L1 distance of log mel spectra."""
    one, other = (log_mel(pcm, MEL_FFT, MEL_BANDS) for pcm in (output, real))
    return functional.l1_loss(one, other)


def waves_distance(output: Tensor, real: Tensor) -> Tensor:
    """Return the mean over FFT sizes of L1 of log magnitudes plus spectral convergence."""
    total = output.new_zeros(())
    for size in RESOLUTIONS:
        one, other = magnitudes(output, size), magnitudes(real, size)
        logs = functional.l1_loss((one + FLOOR).log(), (other + FLOOR).log())
        gap = torch.linalg.vector_norm(one - other) / (torch.linalg.vector_norm(other) + FLOOR)
        total = total + logs + gap
    return WAVES_WEIGHT * total / len(RESOLUTIONS)


class Critic(nn.Module):
    """GAN discriminators of mel spectra at several FFT sizes (after EnCodec, Defossez, 2022).
    Phases need no judge: a decoder of pulses and filters makes them right by construction.
    """

    def __init__(self, channels: int = 24) -> None:
        super().__init__()
        self.judges = nn.ModuleList(_Judge(size, channels) for size in CRITIC_SIZES)

    def forward(self, pcm: Tensor) -> Verdicts:
        """Return the outputs of the inner layers of each discriminator, with its verdict last."""
        return [judge(pcm) for judge in self.judges]


class _Judge(nn.Module):
    """A discriminator: convolutions over time and frequency."""

    def __init__(self, size: int, channels: int) -> None:
        super().__init__()
        weight = nn.utils.parametrizations.weight_norm
        shapes = (  # entering, leaving, kernel, stride
            (1, channels, (3, 5), (1, 2)),
            (channels, channels, (3, 5), (1, 2)),
            (channels, 2 * channels, (3, 5), (2, 2)),
            (2 * channels, 2 * channels, (3, 3), (1, 2)),
        )
        self.layers = nn.ModuleList(
            weight(nn.Conv2d(entering, leaving, kernel, stride, (kernel[0] // 2, kernel[1] // 2)))
            for entering, leaving, kernel, stride in shapes
        )
        self.verdict = weight(nn.Conv2d(2 * channels, 1, 3, padding=1))
        self._size = size

    def forward(self, pcm: Tensor) -> list[Tensor]:
        logs = log_mel(pcm, self._size, CRITIC_BANDS[self._size])
        picture = (logs[:, None] + LOG_MIDDLE) / LOG_SPREAD
        x = picture.contiguous(memory_format=torch.channels_last)
        outputs = []
        for layer in self.layers:
            x = functional.leaky_relu(layer(x), 0.2)
            outputs.append(x)
        return [*outputs, self.verdict(x).float()]


def critic_loss(of_real: Verdicts, of_made: Verdicts) -> Tensor:
    """Return the critic's hinge loss, from its outputs for real and for generated sound."""
    losses = [
        functional.relu(1 - real[-1]).mean() + functional.relu(1 + output[-1]).mean()
        for real, output in zip(of_real, of_made, strict=True)
    ]
    return torch.stack(losses).mean()


def fooling_loss(of_made: Verdicts) -> Tensor:
    """Return the decoder's adversarial loss: low when the critic takes its output for real."""
    return torch.stack([-output[-1].mean() for output in of_made]).mean()


def feature_loss(of_real: Verdicts, of_made: Verdicts) -> Tensor:
    """Return the distance in the critic's inner layers, relative to the size of the real values."""
    losses = [
        functional.l1_loss(one, other.detach()) / (other.detach().abs().mean() + FLOOR)
        for output, real in zip(of_made, of_real, strict=True)
        for one, other in zip(output[:-1], real[:-1], strict=True)
    ]
    return torch.stack(losses).mean()


def log_mel(pcm: Tensor, size: int, bands: int) -> Tensor:
    """Return log mel spectra of samples [B, S], [B, T, bands]."""
    return (magnitudes(pcm, size) @ _filters(size, bands, pcm.device) + FLOOR).log()


def magnitudes(pcm: Tensor, size: int) -> Tensor:
    """Return magnitudes [B, T, size / 2 + 1] of samples [B, S], with a gradient at zero too."""
    window = torch.hann_window(size, device=pcm.device)
    bins = torch.stft(
        pcm.float(), size, size // 4, window=window, normalized=True, return_complex=True
    ).transpose(1, 2)
    return (bins.real.square() + bins.imag.square() + 1e-9).sqrt()


def fresh_reader(width: int) -> nn.Linear:
    """Return an untrained linear phone reader: latents [D] to logits of a frame's slots."""
    return nn.Linear(width, SLOTS * len(SOUND_NUMBERS))


def reader_loss(reader: nn.Module, latents: Tensor, slots: Tensor) -> Tensor:
    """Return a reader's cross-entropy for latents [B, D, T], given true sounds [B, T * SLOTS]."""
    logits = reader(latents.transpose(1, 2))  # [B, T, SLOTS * sounds]
    return functional.cross_entropy(logits.reshape(-1, len(SOUND_NUMBERS)), slots.flatten())


class SoundLearner(Learner):
    """Base of learners whose network makes samples. A critic joins late in the schedule."""

    def __init__(self, run: Run, recipe: Sound, speech: Speech, **parts: nn.Module) -> None:
        """Make optimisers for the averaged part and for the critic; other parts do not learn."""
        self._critic, self._sound = Critic(), recipe
        super().__init__(run, recipe.schedule, **parts, critic=self._critic)
        making, rate, betas = parts[self.averaged], recipe.critic_rate, ADVERSARIAL_BETAS
        self.optimisers = {
            "all": optimiser(making, recipe.schedule, betas=betas),
            "critic": optimiser(self._critic, recipe.schedule, betas=betas, scale=rate),
        }
        shortest = recipe.window_frames * FRAME_SAMPLES
        # One that does not fill a window would shorten its batch.
        self._training, self._validation = (
            tuple(each for each in flat(side) if len(each.pcm) >= shortest) or flat(side)
            for side in (speech.training, speech.validation)
        )

    @abstractmethod
    def _losses(self, side: Utterances, draw: random.Random) -> Made:
        """Draw a batch from utterances, and make its samples."""

    def learn(self, share: float, draw: random.Random) -> Losses:
        """Do one step of the network, and of the critic once it is due."""
        pcm, output, losses = self._losses(self._training, draw)
        total = torch.stack(list(losses.values())).sum()
        if share >= self._sound.adversary_from:
            windows = slice(self._sound.critic_windows)
            losses["critic"], fooled = self._judge(pcm[windows], output[windows])
            total = total + fooled
        optimiser_step(total, self.optimisers["all"], self.schedule.clip)
        return {name: loss.detach() for name, loss in losses.items()}

    def validated(self, draw: random.Random) -> Losses:
        return self._losses(self._validation, draw)[2]

    @contextmanager
    def _eval_mode(self) -> Iterator[None]:
        """Stay in training mode: in eval mode all pulses begin as at the start of an utterance."""
        yield

    def _decoded(self, decoder: SourceDecoder, columns: Tensor, pitch: Tensor, pcm: Tensor) -> Made:
        """Decode input columns [B, D, T] at the true pitch [B, 2, T], which is also learnt."""
        log_hz, weight = pitch.unbind(1)
        with self._autocast():
            shape = decoder.shape(columns)
        missed = (shape.pitch - log_hz).abs() * weight
        # The source and its filters are exact; a graphics card has no FFT in bf16 either.
        output = decoder.samples(shape, log_hz)[:, 0]
        losses = {
            "pitch": PITCH_WEIGHT * missed.mean(),
            "mel": mel_distance(output, pcm),
            "waves": waves_distance(output, pcm),
        }
        return pcm, output, losses

    def _judge(self, pcm: Tensor, output: Tensor) -> tuple[Tensor, Tensor]:
        """Train the critic for one step. Return its loss, and the network's loss in the critic: of
        its verdict, and of its inner layers.
        """
        with self._autocast():
            own = critic_loss(self._critic(pcm), self._critic(output.detach()))
        optimiser_step(own, self.optimisers["critic"], self.schedule.clip)
        self._critic.requires_grad_(requires_grad=False)
        with self._autocast():
            of_made = self._critic(output)
            with torch.no_grad():
                of_real = self._critic(pcm)
            fooled = fooling_loss(of_made) + FEATURES_WEIGHT * feature_loss(of_real, of_made)
        self._critic.requires_grad_(requires_grad=True)
        return own, fooled
