"""From tokens and aligned phones to the spectrum, step by step: MELLE without its post-net.

    token + phone + pre-net(columns before) + speaker ─▶ causal stack ─▶ mean, variance
    latent = mean + deviation x noise ─▶ latent + MLP(latent) = columns       (SMLLE, 2.2.2)

The paper does not say how the inputs are joined: here they are summed. Two columns a step, as in
MELLE with r = 2.
Invariant: all randomness is passed in; with the same noise, many steps at once equal the same steps
one by one.
"""

from dataclasses import dataclass
from typing import Final, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from engine.nn.cache import KvCache
from engine.nn.prenet import Prenet
from engine.nn.transformer import Embedding, Linear, RotaryTable, Transformer
from engine.tts.smlle.config import SPECIAL_PHONES, Generation, Shape

MLP_LAYERS: Final = 3  # MELLE, 4.2
SMALLEST_LOG_VARIANCE, LARGEST_LOG_VARIANCE = -8.0, 4.0


class Latents(NamedTuple):
    """The mean and log variance that columns [..., V] are drawn with, and the columns."""

    mean: Tensor
    log_variance: Tensor
    columns: Tensor


class Inputs(NamedTuple):
    """What steps are given: tokens and phones [B, T], the columns before each [B, T, V]
    (normalised), the speaker [B, 192].
    """

    tokens: Tensor
    phones: Tensor
    before: Tensor
    speaker: Tensor


class Spectrum(nn.Module):
    """The network, and the scale of its columns."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.shape = shape
        width = shape.spectrum.width
        self.tokens = Embedding(shape.tokens, width)
        self.phones = Embedding(shape.phones + SPECIAL_PHONES, width)
        self.speaker = Linear(shape.speaker_width, width)
        self.prenet = Prenet(shape.values, shape.prenet, width)
        self.stack = Transformer(shape.spectrum)
        self.latents = Linear(width, 2 * shape.values)
        sizes = (shape.values, *[shape.latent] * (MLP_LAYERS - 1), shape.values)
        self.mlp = nn.ModuleList(map(Linear, sizes, sizes[1:]))
        self.register_buffer("centre", torch.zeros(shape.bands))
        self.register_buffer("spread", torch.ones(shape.bands))

    def normalised(self, mel: Tensor) -> Tensor:
        """Log mel [..., bands] on the network's scale."""
        return (mel - self.get_buffer("centre")) / self.get_buffer("spread")

    def restored(self, columns: Tensor) -> Tensor:
        """The inverse of normalised()."""
        return columns * self.get_buffer("spread") + self.get_buffer("centre")

    def inputs(self, inputs: Inputs, keep: Tensor) -> Tensor:
        """Rows of the stack [B, T, D]; `keep` is the pre-net's."""
        rows: Tensor = (
            self.tokens(inputs.tokens)
            + self.phones(inputs.phones)
            + self.speaker(inputs.speaker)[:, None]
            + self.prenet(inputs.before, keep)
        )
        return rows

    def drawn(self, hidden: Tensor, noise: Tensor | None) -> Latents:
        """Hidden [..., D] and noise [..., V] from N(0, 1) -> columns; None = the mean itself."""
        mean, log_variance = self.latents(hidden).chunk(2, dim=-1)
        log_variance = log_variance.clamp(SMALLEST_LOG_VARIANCE, LARGEST_LOG_VARIANCE)
        latent = mean if noise is None else mean + (log_variance / 2).exp() * noise
        x = latent
        for number, layer in enumerate(self.mlp):
            x = layer(x)
            if number < MLP_LAYERS - 1:
                x = functional.relu(x)
        return Latents(mean, log_variance, latent + x)


@dataclass(frozen=True)
class Prompt:
    """A voice on this network: the stack's cache behind it, its last columns [1, V], and the
    speaker's vector [1, 192].
    """

    cache: KvCache
    last: Tensor
    speaker: Tensor


class Columns:
    """One passage's spectrum, step by step."""

    def __init__(
        self,
        spectrum: Spectrum,
        table: RotaryTable,
        generation: Generation,
        prompt: Prompt,
        generator: torch.Generator,
    ) -> None:
        self._spectrum = spectrum
        self._table = table
        self._generation = generation
        self._generator = generator
        self._speaker = prompt.speaker
        self._cache = prompt.cache.copy(prompt.cache.length)
        self._last = prompt.last

    def next(self, token: int, phone: int) -> Tensor:
        """Log mel columns [columns, bands] of the next step."""
        spectrum, generation = self._spectrum, self._generation
        keep = spectrum.prenet.keep_masks((1, 1), generation.dropout, self._generator)
        inputs = Inputs(
            torch.tensor([[token]]), torch.tensor([[phone]]), self._last[:, None], self._speaker
        )
        place = self._cache.length
        rotation = self._table.slice(place, place + 1)
        hidden = spectrum.stack(spectrum.inputs(inputs, keep), rotation, self._cache)[:, 0]
        self._cache.advance(1)
        noise = None
        if generation.latents:
            noise = torch.randn(1, spectrum.shape.values, generator=self._generator)
        self._last = spectrum.drawn(hidden, noise).columns
        return spectrum.restored(self._last.view(spectrum.shape.columns, -1))


def prepared(
    spectrum: Spectrum,
    table: RotaryTable,
    inputs: Inputs,
    columns: Tensor,
    share: float,
) -> Prompt:
    """The state behind a prompt of P steps, whose own `columns` are [1, P, V]; P may be 0."""
    steps = inputs.tokens.shape[1]
    cache = KvCache(spectrum.shape.spectrum, 1, columns.device, torch.float32)
    last = torch.zeros(1, spectrum.shape.values)
    if steps:
        # The prompt's dropout is always the same, so that a voice sounds alike in every utterance.
        keep = spectrum.prenet.keep_masks((1, steps), share, torch.Generator().manual_seed(0))
        mask = torch.ones(steps, steps, dtype=torch.bool).tril()
        spectrum.stack(spectrum.inputs(inputs, keep), table.slice(0, steps), cache, mask)
        cache.advance(steps)
        last = columns[:, -1]
    return Prompt(cache, last, inputs.speaker)


def before(columns: Tensor) -> Tensor:
    """Columns [B, T, V] -> those before each step, zeros before the first."""
    return functional.pad(columns, (0, 0, 1, 0))[:, :-1]
