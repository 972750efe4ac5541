"""The speaker encoder of the built-in voice: a small convolutional network from speech to a vector.

The published voice has ReDimNet instead. Invariant: the module never changes after loading; embed()
is a function of the samples.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final

import torch
from torch import Tensor, nn
from torch.nn import functional

from engine.nn.mel import mel_edges, triangles
from engine.nn.weights_file import load_network, read_shape
from engine.settings.rules import Range
from engine.translatable import Translatable

SAMPLE_RATE: Final = 16_000
FFT, WINDOW, HOP = 512, 400, 160  # samples
LOWEST_HZ, HIGHEST_HZ = 40.0, 7_600.0
LOG_FLOOR: Final = 1e-5
REINSTALL: Final = Translatable("Install the program again.")
_LAYERS: Final = ((5, 1), (3, 2), (3, 3), (1, 1))  # kernel, dilation


@dataclass(frozen=True)
class SmallSpeakerConfig:
    """Shape of one encoder."""

    bands: Annotated[int, Range(1, 4096)]
    channels: Annotated[int, Range(1, 4096)]
    width: Annotated[int, Range(1, 4096)]


class SmallSpeaker(nn.Module):
    """Samples to a speaker vector: log mel bands, convolutions, statistics over time."""

    def __init__(self, config: SmallSpeakerConfig) -> None:
        super().__init__()
        self.config = config
        edges = mel_edges(config.bands, LOWEST_HZ, HIGHEST_HZ)
        self.register_buffer("filters", triangles(FFT, SAMPLE_RATE, edges), persistent=False)
        self.register_buffer("window", torch.hamming_window(WINDOW), persistent=False)
        widths = [config.bands, *[config.channels] * (len(_LAYERS) - 1), 2 * config.channels]
        self.layers = nn.ModuleList(
            nn.Conv1d(entering, leaving, kernel, dilation=dilation, padding=kernel // 2 * dilation)
            for entering, leaving, (kernel, dilation) in zip(
                widths, widths[1:], _LAYERS, strict=False
            )
        )
        self.norms = nn.ModuleList(nn.BatchNorm1d(width) for width in widths[1:])
        self.linear = nn.Linear(4 * config.channels, config.width)

    def forward(self, pcm: Tensor) -> Tensor:
        """Return speaker vectors [B, width], not normalised, for samples [B, S] at 16 kHz."""
        window = self.get_buffer("window")
        spectrum = torch.stft(pcm, FFT, HOP, WINDOW, window, return_complex=True)
        power = spectrum.real.square() + spectrum.imag.square()
        logs = (power.transpose(1, 2) @ self.get_buffer("filters") + LOG_FLOOR).log()
        x = (logs - logs.mean(1, keepdim=True)).transpose(1, 2)  # the room and the level are gone
        for layer, norm in zip(self.layers, self.norms, strict=True):
            x = norm(functional.relu(layer(x)))
        pooled = torch.cat((x.mean(-1), x.std(-1)), dim=1)  # [B, 4 channels]
        out: Tensor = self.linear(pooled)
        return out

    def embed(self, pcm: Tensor) -> Tensor:
        """Return the speaker vector [width] of a clip [S] at 16 kHz."""
        vector: Tensor = self(pcm[None].float())[0]
        return vector


def load_small_speaker(file: Path) -> SmallSpeaker:
    """Load an encoder that training exported. ModelError names the fault of the file."""

    def encoder_of(text: str) -> SmallSpeaker:
        return SmallSpeaker(read_shape(SmallSpeakerConfig, text, ignore_unknown=True))

    return load_network(file, encoder_of, Translatable("The speaker encoder"), REINSTALL)
