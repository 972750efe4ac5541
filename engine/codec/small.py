"""The small codec of the starter voice: moshi's Mimi with smaller parts of our own.

It is used through the same `Mimi` class as the published one: frames of 80 ms at 24 kHz; the first
codebook holds the phones, the others the sound of the voice. Invariant: the file states its own
shape, and either every tensor fits that shape or a ModelError names the one that does not.
"""

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Final

import torch
from moshi.models.compression import MimiModel
from moshi.modules.transformer import ProjectedTransformer
from moshi.quantization.vq import SplitResidualVectorQuantizer
from torch import Tensor, nn

from engine.codec.mimi import ENCODING, NOTHING, PHONE_ROWS, SAMPLE_RATE, Mimi
from engine.codec.small_parts import SpectralEncoder
from engine.codec.source import SourceDecoder
from engine.errors import ModelError
from engine.nn.weights_file import load_network, read_shape
from engine.settings.rules import Range
from engine.translatable import Translatable

FRAME_RATE: Final = 12.5
LATENT_RATE: Final = 25.0  # Hz of encoder and decoder; Mimi halves and doubles around the codes
GAIN: Final = 30.0  # of the phones: small weights would take long to reach the size of latents
REINSTALL: Final = Translatable("Install the program again.")


@dataclass(frozen=True)
class SmallCodecConfig:
    """Shape of one small codec: `blocks` ConvNeXt blocks on each side, `layers` in each
    transformer."""

    codebooks: Annotated[int, Range(1, 32)]
    codes: Annotated[int, Range(1, 2048)]
    width: Annotated[int, Range(1, 2048)]
    blocks: Annotated[int, Range(1, 32)]
    layers: Annotated[int, Range(1, 16)]
    # an input of the decoder; 0 = its input is the codes alone
    phones: Annotated[int, Range(0, 1024)] = 0
    # and its transformer's layers; 0 = as many as the encoder's
    decoder_blocks: Annotated[int, Range(0, 32)] = 0
    decoder_layers: Annotated[int, Range(0, 16)] = 0
    encodes: bool = True  # False: it is a decoder alone, for voices that no recording can make


class TextAwareMimi(MimiModel):
    """A Mimi whose decoder also gets the phones of each frame: codes [B, K + PHONE_ROWS, T] ->
    samples; ids of a frame's first and last phone, the last rows, from NOTHING to `phones` - 1.

    Codes lose some of the sounds, but a speech synthesiser knows them exactly (a text-aware
    decoder, as in TaDiCodec, Wang et al. 2025). A frame with the phones NOTHING is decoded from its
    codes alone.
    """

    def __init__(self, *parts: Any, phones: int, **sizes: Any) -> None:
        """In a new network the phones have no effect."""
        super().__init__(*parts, **sizes)
        self.phones = nn.Embedding(phones - NOTHING, self.dimension, padding_idx=0)
        nn.init.zeros_(self.phones.weight)

    def decode_latent(self, codes: Tensor) -> Tensor:
        latents: Tensor = super().decode_latent(codes[:, :-PHONE_ROWS])
        said: Tensor = self.phones(codes[:, -PHONE_ROWS:] - NOTHING).sum(dim=1)  # [B, T, D]
        return latents + GAIN * said.transpose(1, 2)


def build(config: SmallCodecConfig) -> Any:  # Any: moshi's MimiModel has no types
    """Return the network with new weights, in training mode."""
    width = config.width
    quantiser = SplitResidualVectorQuantizer(
        dimension=width // 2,
        n_q=config.codebooks,
        bins=config.codes,
        input_dimension=width,
        output_dimension=width,
    )
    kind = partial(TextAwareMimi, phones=config.phones) if config.phones else MimiModel
    model = kind(
        SpectralEncoder(width, config.blocks),
        SourceDecoder(width, config.decoder_blocks or config.blocks),
        quantiser,
        channels=1,
        sample_rate=SAMPLE_RATE,
        frame_rate=FRAME_RATE,
        encoder_frame_rate=LATENT_RATE,
        causal=True,
        resample_method="conv",
        encoder_transformer=ProjectedTransformer(**_transformer(width, config.layers)),
        decoder_transformer=ProjectedTransformer(
            **_transformer(width, config.decoder_layers or config.layers)
        ),
    )
    if not config.encodes:
        for part in ENCODING:
            setattr(model, part, None)  # moshi reads them, and calls them only to encode
    model.set_num_codebooks(config.codebooks)
    return model


def load_small(file: Path, device: torch.device) -> Mimi:
    """Read a codec that training exported. ModelError names the fault of the file."""

    def make() -> Any:
        codec = load_network(
            file,
            lambda text: build(read_config(text, file)),
            Translatable("The codec file"),
            REINSTALL,
        )
        # to() imports a part of torch's compilers, even where there is nothing to move
        return codec if device.type == "cpu" else codec.to(device)

    model = make()
    return Mimi(model, model.num_codebooks, make)


def read_config(text: str, file: Path) -> SmallCodecConfig:
    """Return the shape in a file. ModelError if it is missing or not a shape of this codec."""
    try:
        return read_shape(SmallCodecConfig, text, ignore_unknown=True)
    except ValueError as error:
        raise ModelError(
            "{file} is no codec of this program: {error}.", hint=REINSTALL, file=file, error=error
        ) from error


def _transformer(width: int, layers: int) -> dict[str, Any]:
    return {
        "d_model": width,
        "num_heads": 4,
        "num_layers": layers,
        "causal": True,
        "layer_scale": 0.01,
        "context": 250,  # columns, 10 s
        "conv_layout": True,
        "max_period": 10_000,
        "gating": "none",
        "norm": "layer_norm",
        "positional_embedding": "rope",
        "dim_feedforward": 2 * width,
        "input_dimension": width,
        "output_dimensions": [width],
    }
