"""What is said, as one token every 40 ms: a spectral encoder and one codebook, deaf to the speaker.

SMLLE takes the first level of SpeechTokenizer, taught by HuBERT. Here the teachers are the corpus's
exact phones, and a decoder that is given the speaker, so that tokens need not carry the voice.
Invariant: the file carries its own shape, and either every tensor fits it or a ModelError says so.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final

import torch
from torch import Tensor, nn

from engine.codec.small_parts import SpectralEncoder
from engine.nn.weights_file import load_network, read_shape
from engine.settings.rules import Range
from engine.translatable import Translatable

TOKEN_SAMPLES: Final = 960  # 25 tokens a second
TOKEN_RATE: Final = 25
AGAIN: Final = Translatable("Make the pack again.")


@dataclass(frozen=True)
class SemanticConfig:
    """Shape of one tokeniser; `blocks` ConvNeXt blocks of `width`."""

    tokens: Annotated[int, Range(1, 4096)] = 512
    width: Annotated[int, Range(1, 2048)] = 192
    blocks: Annotated[int, Range(1, 32)] = 4


class SemanticTokeniser(nn.Module):
    """Samples [B, 1, S] at 24 kHz, S a multiple of TOKEN_SAMPLES -> vectors and tokens at 25 Hz."""

    def __init__(self, config: SemanticConfig) -> None:
        super().__init__()
        from moshi.quantization.vq import ResidualVectorQuantizer  # slow to import

        self.config = config
        width = config.width
        self.encoder = SpectralEncoder(width, config.blocks)
        self.quantiser: Any = ResidualVectorQuantizer(  # moshi's modules have no types
            dimension=width // 2,
            n_q=1,
            bins=config.tokens,
            input_dimension=width,
            output_dimension=width,
        )

    def forward(self, pcm: Tensor) -> Any:
        """moshi's result: `x` [B, width, T] behind the codebook, `codes`, `penalty`."""
        return self.quantiser(self.encoder(pcm).float(), TOKEN_RATE)

    @torch.no_grad()
    def encode(self, pcm: Tensor) -> Tensor:
        """Tokens [T] of samples [S]; an incomplete one at the end is left out."""
        whole = len(pcm) // TOKEN_SAMPLES * TOKEN_SAMPLES
        tokens: Tensor = self.quantiser.encode(self.encoder(pcm[None, None, :whole]))
        return tokens[0, 0]


def load_semantic(file: Path) -> SemanticTokeniser:
    """Read a tokeniser that training exported. ModelError names what is wrong with the file."""
    return load_network(
        file,
        lambda text: SemanticTokeniser(read_shape(SemanticConfig, text)),
        Translatable("The tokeniser"),
        AGAIN,
    )
