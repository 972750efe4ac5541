"""Triangular filters on the mel scale (HTK's), for magnitudes or powers of a spectrum."""

import torch
from torch import Tensor


def mel_edges(bands: int, lowest_hz: float, highest_hz: float) -> Tensor:
    """Return the edges in Hz, [bands + 2], of bands that overlap by half."""
    ends = [2595 * torch.log10(torch.tensor(1 + hz / 700)) for hz in (lowest_hz, highest_hz)]
    mels = torch.linspace(float(ends[0]), float(ends[1]), bands + 2)
    return 700 * (10 ** (mels / 2595) - 1)


def triangles(fft: int, sample_rate: int, edges: Tensor) -> Tensor:
    """Return triangles of height 1 between edges in Hz [bands + 2], [fft / 2 + 1, bands]."""
    bins = torch.linspace(0, sample_rate / 2, fft // 2 + 1)[:, None]
    rising = (bins - edges[:-2]) / (edges[1:-1] - edges[:-2])
    falling = (edges[2:] - bins) / (edges[2:] - edges[1:-1])
    return torch.minimum(rising, falling).clamp(min=0)
