"""ReDimNet-M, from speech to a speaker's vector of 192 numbers (Yakovlev et al., 2024).

Written after the paper and the published MIT code, with the keys of the published file (see
pack.py). One-dimensional rows [B, 1152, T] hold C channels of F frequencies, with C * F
constant; every stage reads a learnt mixture of all rows before it. Invariant: the module never
changes after loading; embed() is a function of the samples.
"""

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from engine.nn.mel import mel_edges, triangles

SAMPLE_RATE = 16_000
FFT, WINDOW, HOP = 512, 400, 160  # samples
LOWEST_HZ, HIGHEST_HZ = 20.0, 7_600.0
PRE_EMPHASIS = 0.97
LOG_FLOOR = 1e-6
NORM_EPS = 1e-6
POOL_WIDTH = 128
POSITION_KERNEL = 59
HEADS = 4


@dataclass(frozen=True)
class ResidualStage:
    """A stage of the network: it divides the number of frequencies by `stride`, has `blocks`
    convolutions, and attention on width / `reduction`.
    """

    stride: int
    blocks: int
    reduction: int


@dataclass(frozen=True)
class SpeakerConfig:
    """Shape of one ReDimNet; the defaults are the published size M."""

    frequencies: int = 72
    channels: int = 16
    stages: tuple[ResidualStage, ...] = (
        ResidualStage(1, 2, 12),
        ResidualStage(2, 2, 12),
        ResidualStage(1, 3, 12),
        ResidualStage(2, 4, 8),
        ResidualStage(1, 4, 8),
        ResidualStage(2, 4, 4),
    )
    group_divisor: int = 4
    width: int = 192

    @property
    def row(self) -> int:
        return self.frequencies * self.channels


class ReDimNet(nn.Module):
    """Samples to a speaker vector. Submodule names follow the published file."""

    def __init__(self, config: SpeakerConfig) -> None:
        super().__init__()
        self.spec = _Spectrum(config.frequencies)
        self.backbone = _Backbone(config)
        self.pool = _Pool(config.row)
        self.bn = nn.BatchNorm1d(2 * config.row)
        self.linear = nn.Linear(2 * config.row, config.width)

    def forward(self, pcm: Tensor) -> Tensor:
        """Return speaker vectors [B, 192], not normalised, for samples [B, S] at 16 kHz."""
        rows = self.backbone(self.spec(pcm)[:, None])  # [B, 1152, T]
        out: Tensor = self.linear(self.bn(self.pool(rows)))
        return out

    def embed(self, pcm: Tensor) -> Tensor:
        """Return the speaker vector [192] of a clip [S] at 16 kHz."""
        vector: Tensor = self(pcm[None].float())[0]
        return vector


class _Spectrum(nn.Module):
    """Log mel spectrum without each band's mean."""

    def __init__(self, bands: int) -> None:
        super().__init__()
        self.torchfbank = nn.Sequential(nn.Identity(), _PreEmphasis(), _Mel(bands))

    def forward(self, pcm: Tensor) -> Tensor:
        logs = (self.torchfbank(pcm) + LOG_FLOOR).log()  # [B, F, T]
        out: Tensor = logs - logs.mean(-1, keepdim=True)
        return out


class _PreEmphasis(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("flipped_filter", torch.tensor([[[-PRE_EMPHASIS, 1.0]]]))

    def forward(self, pcm: Tensor) -> Tensor:
        padded = functional.pad(pcm[:, None], (1, 0), "reflect")
        return functional.conv1d(padded, self.get_buffer("flipped_filter"))[:, 0]


class _Mel(nn.Module):
    """Power spectrum through triangular filters; window and filters come with the file."""

    def __init__(self, bands: int) -> None:
        super().__init__()
        self.spectrogram = nn.Module()
        self.spectrogram.register_buffer("window", torch.hamming_window(WINDOW))
        self.mel_scale = nn.Module()
        edges = mel_edges(bands, LOWEST_HZ, HIGHEST_HZ)
        self.mel_scale.register_buffer("fb", triangles(FFT, SAMPLE_RATE, edges))

    def forward(self, pcm: Tensor) -> Tensor:
        window = self.spectrogram.get_buffer("window")
        spectrum = torch.stft(
            pcm, FFT, HOP, WINDOW, window, center=True, pad_mode="reflect", return_complex=True
        )
        power = spectrum.abs().square()  # [B, 257, T]
        return (power.transpose(1, 2) @ self.mel_scale.get_buffer("fb")).transpose(1, 2)


class _Backbone(nn.Module):
    def __init__(self, config: SpeakerConfig) -> None:
        super().__init__()
        self.stem = nn.Sequential(
            nn.Conv2d(1, config.channels, 3, padding="same"), _ChannelNorm(config.channels)
        )
        channels, frequencies = config.channels, config.frequencies
        for number, stage in enumerate(config.stages):
            layers = _stage_layers(config, number, channels, frequencies)
            self.add_module(f"stage{number}", nn.Sequential(*layers))
            channels, frequencies = channels * stage.stride, frequencies // stage.stride
        self.fin_wght1d = _Mix(len(config.stages) + 1, config.row)
        self._stages = len(config.stages)

    def forward(self, spectrum: Tensor) -> Tensor:
        """Run all stages: [B, 1, F, T] -> [B, 1152, T]."""
        rows = [_to_row(self.stem(spectrum))]
        for number in range(self._stages):
            rows.append(self.get_submodule(f"stage{number}")(torch.stack(rows, dim=1)))
        out: Tensor = self.fin_wght1d(torch.stack(rows, dim=1))
        return out


def _stage_layers(
    config: SpeakerConfig, number: int, channels: int, frequencies: int
) -> list[nn.Module]:
    """Return the layers of a stage in the published file's order, so that the numbers in its keys
    fit.
    """
    stage = config.stages[number]
    wider = channels * stage.stride
    return [
        _Mix(number + 1, config.row if number else 1),
        _ToPlane(frequencies, channels),
        nn.Conv2d(channels, wider, (stage.stride, 1), stride=(stage.stride, 1)),
        *(_ConvBlock(wider, wider // config.group_divisor) for _ in range(stage.blocks)),
        _ToRow(),
        _TimeContext(config.row, config.row // stage.reduction),
    ]


class _Mix(nn.Module):
    """Weighted sum of all rows before, with learnt weights per channel: [B, N, 1152, T] -> [B,
    1152, T].
    """

    def __init__(self, rows: int, width: int) -> None:
        super().__init__()
        self.w = nn.Parameter(torch.zeros(1, rows, width, 1))

    def forward(self, rows: Tensor) -> Tensor:
        return (self.w.softmax(dim=1) * rows).sum(dim=1)


class _ToPlane(nn.Module):
    def __init__(self, frequencies: int, channels: int) -> None:
        super().__init__()
        self._shape = (frequencies, channels)

    def forward(self, row: Tensor) -> Tensor:
        """Reshape [B, F C, T] -> [B, C, F, T]."""
        return row.view(len(row), *self._shape, -1).transpose(1, 2)


class _ToRow(nn.Module):
    def forward(self, plane: Tensor) -> Tensor:
        return _to_row(plane)


def _to_row(plane: Tensor) -> Tensor:
    """Reshape [B, C, F, T] -> [B, F C, T]."""
    return plane.transpose(1, 2).flatten(1, 2)


class _ConvBlock(nn.Module):
    def __init__(self, channels: int, groups: int) -> None:
        super().__init__()
        self.conv_block = _Convolutions(channels, groups)

    def forward(self, x: Tensor) -> Tensor:
        out: Tensor = self.conv_block(x)
        return out


class _Convolutions(nn.Module):
    def __init__(self, channels: int, groups: int) -> None:
        super().__init__()
        self.dwconvs = nn.ModuleList(
            [nn.Conv2d(channels, channels, 3, padding="same", groups=groups)]
        )
        self.norm = nn.BatchNorm2d(channels)
        self.pwconv1 = nn.Conv2d(channels, channels, 1)

    def forward(self, x: Tensor) -> Tensor:
        out: Tensor = x + self.pwconv1(functional.gelu(self.norm(self.dwconvs[0](x))))
        return out


class _TimeContext(nn.Module):
    """Attention over time on a narrower row."""

    def __init__(self, width: int, narrow: int) -> None:
        super().__init__()
        self.red_dim_conv = nn.Sequential(nn.Conv1d(width, narrow, 1), _ChannelNorm(narrow))
        self.tcm = nn.Sequential(_Position(narrow), _Encoder(narrow))
        self.exp_dim_conv = nn.Conv1d(narrow, width, 1)

    def forward(self, row: Tensor) -> Tensor:
        out: Tensor = row + self.exp_dim_conv(self.tcm(self.red_dim_conv(row)))
        return out


class _Position(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        half = POSITION_KERNEL // 2
        self.conv = nn.Conv1d(width, width, POSITION_KERNEL, padding=half, groups=width)
        self.norm = _ChannelNorm(width)

    def forward(self, row: Tensor) -> Tensor:
        out: Tensor = row + self.norm(self.conv(row))
        return out


class _Encoder(nn.Module):
    """Attention and MLP with the norms behind the residuals."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.attention = _Attention(width)
        self.layer_norm = nn.LayerNorm(width, eps=NORM_EPS)
        self.feed_forward = _FeedForward(width)
        self.final_layer_norm = nn.LayerNorm(width, eps=NORM_EPS)

    def forward(self, row: Tensor) -> Tensor:
        x = row.transpose(1, 2)  # [B, T, width]
        x = self.layer_norm(x + self.attention(x))
        out: Tensor = self.final_layer_norm(x + self.feed_forward(x))
        return out.transpose(1, 2)


class _Attention(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.k_proj = nn.Linear(width, width)
        self.v_proj = nn.Linear(width, width)
        self.q_proj = nn.Linear(width, width)
        self.out_proj = nn.Linear(width, width)

    def forward(self, x: Tensor) -> Tensor:
        queries, keys, values = (
            part(x).unflatten(-1, (HEADS, -1)).transpose(1, 2)
            for part in (self.q_proj, self.k_proj, self.v_proj)
        )
        mixed = functional.scaled_dot_product_attention(queries, keys, values)
        out: Tensor = self.out_proj(mixed.transpose(1, 2).flatten(-2))
        return out


class _FeedForward(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.intermediate_dense = nn.Linear(width, 2 * width)
        self.output_dense = nn.Linear(2 * width, width)

    def forward(self, x: Tensor) -> Tensor:
        wide = functional.gelu(self.intermediate_dense(x), approximate="tanh")
        out: Tensor = self.output_dense(wide)
        return out


class _ChannelNorm(nn.Module):
    """Layer norm over dimension 1."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))
        self.bias = nn.Parameter(torch.zeros(width))

    def forward(self, x: Tensor) -> Tensor:
        last = x.movedim(1, -1)
        normed = functional.layer_norm(last, self.weight.shape, self.weight, self.bias, NORM_EPS)
        return normed.movedim(-1, 1)


class _Pool(nn.Module):
    """Mean and deviation over time, weighted by attention (ASTP)."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.linear1 = nn.Conv1d(width, POOL_WIDTH, 1)
        self.linear2 = nn.Conv1d(POOL_WIDTH, width, 1)

    def forward(self, row: Tensor) -> Tensor:
        share = self.linear2(self.linear1(row).tanh()).softmax(dim=2)
        mean = (share * row).sum(dim=2)
        variance = (share * row.square()).sum(dim=2) - mean.square()
        return torch.cat((mean, variance.clamp(min=1e-7).sqrt()), dim=1)
