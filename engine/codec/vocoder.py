"""From the predictions of an acoustic model, column by column, to samples: the small codec's
decoder with another input.

The input is mel spectra or the vectors of a single codebook, 50 columns a second; `small` has the
one for codes. So the systems are compared by their predictions, not by their vocoders.
Invariant: a stream is a value of its own; a vocoder holds no state between two calls.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final, Protocol

import torch
from torch import Tensor

from engine.codec.mimi import MimiStream
from engine.codec.products import quicken
from engine.codec.source import SourceDecoder
from engine.nn.weights_file import load_network, read_shape
from engine.settings.rules import Range
from engine.translatable import Translatable

FACTOR: Final = 2  # columns of the decoder, at 100 Hz, for each that enters
REMAKE: Final = Translatable("Make the pack again.")


@dataclass(frozen=True)
class VocoderConfig:
    """`entry` values a column; `blocks` ConvNeXt blocks of `width`."""

    entry: Annotated[int, Range(1, 2048)]
    width: Annotated[int, Range(1, 2048)] = 256
    blocks: Annotated[int, Range(1, 32)] = 6


class WaveStream(Protocol):
    """One utterance's samples from its columns."""

    def decode(self, columns: Tensor) -> Tensor:
        """The next columns [T, entry] -> their samples [480 T]."""
        ...


class Waves(Protocol):
    """The interface of a vocoder for sessions."""

    def open(self) -> WaveStream: ...


class Vocoder:
    """Opens streams on one decoder. Used from one thread at a time."""

    def __init__(self, decoder: SourceDecoder) -> None:
        quicken(decoder)
        self._decoder: Any = decoder  # moshi's streaming modules have no types

    @torch.inference_mode()
    def open(self) -> "VocoderStream":
        """Return a new stream without a past, as after silence."""
        with self._decoder.streaming(1):
            return VocoderStream(self._decoder, MimiStream(self._decoder.get_streaming_state()))


class VocoderStream:
    """The state of one utterance."""

    def __init__(self, decoder: Any, stream: MimiStream) -> None:
        self._decoder = decoder
        self._stream = stream

    @torch.inference_mode()
    def decode(self, columns: Tensor) -> Tensor:
        """The next columns [T, entry] -> their samples [480 T]."""
        self._decoder.set_streaming_state(self._stream.states)
        try:
            pcm: Tensor = self._decoder(columns.t()[None])
        finally:
            self._decoder.set_streaming_state(dict.fromkeys(self._stream.states))
        return pcm[0, 0]


def fresh_decoder(config: VocoderConfig) -> SourceDecoder:
    """Return the network with its first weights, in training mode."""
    return SourceDecoder(config.width, config.blocks, config.entry, FACTOR)


def load_vocoder(file: Path, entry: int) -> Vocoder:
    """Read a vocoder that training exported, for columns of `entry` values. ModelError names the
    fault of the file.
    """

    def decoder_of(text: str) -> SourceDecoder:
        config = read_shape(VocoderConfig, text)
        if config.entry != entry:
            raise ValueError(f"it is for columns of {config.entry} values, not {entry}")
        return fresh_decoder(config)

    return Vocoder(load_network(file, decoder_of, Translatable("The vocoder"), REMAKE))
