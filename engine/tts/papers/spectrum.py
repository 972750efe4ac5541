"""From tokens and aligned phones to the spectrum, step by step: MELLE without its post-net. It is
the second network of SMLLE, and also LLMVoX's.

    token + phone + pre-net(columns before) + speaker ─▶ causal stack ─▶ mean, variance
    mean + MLP(mean) = columns       (SMLLE, 2.2.2)

The paper draws around the mean with the variance; here that made the speech worse. It does not say
how the inputs are joined: here they are summed. A step has two columns, as in MELLE with r = 2.
Invariant: all randomness is passed in; with the same noise, many steps at once equal the same steps
one by one.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Final, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from engine.codec.mel import BANDS
from engine.nn.prenet import Prenet
from engine.nn.transformer import Embedding, KvCache, Linear, Transformer, TransformerConfig
from engine.settings.rules import Range
from engine.tts.phones import VOCABULARY

MLP_LAYERS: Final = 3  # MELLE, 4.2
STEP_SAMPLES: Final = 960  # a token and its columns of the spectrum, 40 ms at 24 kHz
SPECIAL_PHONES: Final = 2  # after those of a pack's table: begin, end


@dataclass(frozen=True)
class SpectrumShape:
    """Shape of one network. `phones`: the number of phones in a pack's table, begin and end
    included; each has the same number of `tokens`, in their order.
    """

    stack: TransformerConfig
    phones: Annotated[int, Range(1 + SPECIAL_PHONES, VOCABULARY + SPECIAL_PHONES)]
    tokens: Annotated[int, Range(2, 4096)]
    bands: Annotated[int, Range(BANDS, BANDS)] = 80  # SMLLE, 3.1
    # of the spectrum a step; the paper has one a token, at 50 Hz both
    columns: Annotated[int, Range(2, 2)] = 2
    prenet: Annotated[int, Range(1, 16_384)] = 256
    latent: Annotated[int, Range(1, 16_384)] = 256  # width inside the MLP behind the means
    speaker_width: Annotated[int, Range(1, 4096)] = 192
    # steps after the one that is said whose phones are known, 40 ms each (ours)
    ahead: Annotated[int, Range(0, 8)] = 0

    @property
    def begin(self) -> int:
        return self.phones - 2

    @property
    def end(self) -> int:
        return self.phones - 1

    @property
    def values(self) -> int:
        """Numbers in one step's columns of the spectrum."""
        return self.bands * self.columns

    def phone_of(self, token: int) -> int:
        """Return the phone of a token."""
        return token // (self.tokens // self.phones)


class Inputs(NamedTuple):
    """Inputs of T steps: tokens [B, T], phones [B, T + ahead], the columns before each [B, T, V]
    (normalised), the speaker [B, 192].
    """

    tokens: Tensor
    phones: Tensor
    before: Tensor
    speaker: Tensor


class Spectrum(nn.Module):
    """The network, and the normalisation of its columns."""

    def __init__(self, shape: SpectrumShape) -> None:
        super().__init__()
        self.shape = shape
        width = shape.stack.width
        self.tokens = Embedding(shape.tokens, width)
        self.phones = Embedding(shape.phones, width)
        self.ahead = nn.ModuleList(Embedding(shape.phones, width) for _ in range(shape.ahead))
        self.speaker = Linear(shape.speaker_width, width)
        self.prenet = Prenet(shape.values, shape.prenet, width)
        self.stack = Transformer(shape.stack)
        self.latents = Linear(width, 2 * shape.values)
        sizes = (shape.values, *[shape.latent] * (MLP_LAYERS - 1), shape.values)
        self.mlp = nn.ModuleList(map(Linear, sizes, sizes[1:]))
        self.register_buffer("centre", torch.zeros(shape.bands))
        self.register_buffer("spread", torch.ones(shape.bands))

    def normalised(self, mel: Tensor) -> Tensor:
        """Normalise log mel columns [..., bands]."""
        return (mel - self.get_buffer("centre")) / self.get_buffer("spread")

    def restored(self, columns: Tensor) -> Tensor:
        """Undo normalised()."""
        return columns * self.get_buffer("spread") + self.get_buffer("centre")

    def inputs(self, inputs: Inputs, keep: Tensor) -> Tensor:
        """Return the stack's input rows [B, T, D]. `keep`: the pre-net's dropout masks."""
        steps = inputs.tokens.shape[1]
        rows: Tensor = self.tokens(inputs.tokens) + self.speaker(inputs.speaker)[:, None]
        rows = rows + self.prenet(inputs.before, keep)
        for later, phones in enumerate((self.phones, *self.ahead)):
            rows = rows + phones(inputs.phones[:, later : later + steps])
        return rows

    def columns(self, hidden: Tensor) -> tuple[Tensor, Tensor]:
        """Return mean and columns, both [..., V], from hidden rows [..., D]."""
        mean, _ = self.latents(hidden).chunk(2, dim=-1)
        x = mean
        for number, layer in enumerate(self.mlp):
            x = layer(x)
            if number < MLP_LAYERS - 1:
                x = functional.relu(x)
        return mean, mean + x


@dataclass(frozen=True)
class SpectrumPrompt:
    """The network's state after a voice's prompt: the stack's cache, the last columns [1, V], and
    the speaker's vector [1, 192].
    """

    cache: KvCache
    last: Tensor
    speaker: Tensor


class Columns:
    """Makes the spectrum of one passage, step by step."""

    def __init__(
        self,
        spectrum: Spectrum,
        prompt: SpectrumPrompt,
        generator: torch.Generator,
        *,
        dropout: float,
    ) -> None:
        """`dropout`: of the pre-net, which also drops values when speaking (SMLLE, 3.3)."""
        self._spectrum = spectrum
        self._generator = generator
        self._dropout = dropout
        self._speaker = prompt.speaker
        self._cache = prompt.cache.copy(prompt.cache.length)
        self._last = prompt.last

    def next(self, token: int, phones: Sequence[int]) -> Tensor:
        """Return the log mel columns [columns, bands] of the next step, from its token, its phone
        and those of the `ahead` steps after it.
        """
        spectrum = self._spectrum
        keep = spectrum.prenet.keep_masks((1, 1), self._dropout, self._generator)
        inputs = Inputs(
            torch.tensor([[token]]), torch.tensor([phones]), self._last[:, None], self._speaker
        )
        hidden = spectrum.stack.append(spectrum.inputs(inputs, keep), self._cache)
        _, self._last = spectrum.columns(hidden[:, 0])
        return spectrum.restored(self._last.view(spectrum.shape.columns, -1))


def from_nothing(spectrum: Spectrum, speaker: Tensor) -> SpectrumPrompt:
    """Return the state for a voice without a prompt, which is only a vector [1, 192]."""
    cache = KvCache(spectrum.shape.stack, device=speaker.device)
    return SpectrumPrompt(cache, torch.zeros(1, spectrum.shape.values), speaker)


def prepared(spectrum: Spectrum, inputs: Inputs, columns: Tensor, share: float) -> SpectrumPrompt:
    """Return the state after a prompt of P steps with these inputs and `columns` [1, P, V].
    `share`: of the pre-net's dropout.
    """
    steps, prompt = inputs.tokens.shape[1], from_nothing(spectrum, inputs.speaker)
    # The prompt's dropout is always the same, so that a voice sounds alike in every utterance.
    keep = spectrum.prenet.keep_masks((1, steps), share, torch.Generator().manual_seed(0))
    spectrum.stack.append(spectrum.inputs(inputs, keep), prompt.cache)
    return replace(prompt, last=columns[:, -1])


def before(columns: Tensor) -> Tensor:
    """Shift columns [B, T, V] by one step, so that each step gets those before it; zeros at the
    first.
    """
    return functional.pad(columns, (0, 0, 1, 0))[:, :-1]
