"""ReDimNet-M, from speech to a speaker's vector of 192 numbers (Yakovlev et al., 2024).

Written after the paper and the published MIT code, with the keys of the published file (see
pack.py). One-dimensional rows [B, 1152, T] hold C channels of F frequencies, with C * F
constant; every stage reads a learnt mixture of all rows before it. Invariant: the module never
changes after loading; embed() is a function of the samples.
"""

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
FREQUENCIES, CHANNELS = 72, 16
ROW = FREQUENCIES * CHANNELS
# Of each stage: the divisor of the number of frequencies, the number of convolutions, and the
# divisor of the width for attention.
STAGES = ((1, 2, 12), (2, 2, 12), (1, 3, 12), (2, 4, 8), (1, 4, 8), (2, 4, 4))
GROUP_DIVISOR = 4
WIDTH = 192


class ReDimNet(nn.Module):
    """Samples to a speaker vector. Submodule names follow the published file."""

    def __init__(self) -> None:
        super().__init__()
        self.spec = _Spectrum()
        self.backbone = _Backbone()
        self.pool = _Pool(ROW)
        self.bn = nn.BatchNorm1d(2 * ROW)
        self.linear = nn.Linear(2 * ROW, WIDTH)

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
    """Log mel spectrum without each band's mean; window and filters come with the file."""

    def __init__(self) -> None:
        super().__init__()
        emphasis, window, scale = nn.Module(), nn.Module(), nn.Module()
        emphasis.register_buffer("flipped_filter", torch.tensor([[[-PRE_EMPHASIS, 1.0]]]))
        window.register_buffer("window", torch.hamming_window(WINDOW))
        edges = mel_edges(FREQUENCIES, LOWEST_HZ, HIGHEST_HZ)
        scale.register_buffer("fb", triangles(FFT, SAMPLE_RATE, edges))
        mel = nn.ModuleDict({"spectrogram": window, "mel_scale": scale})
        self.torchfbank = nn.ModuleList((nn.Identity(), emphasis, mel))

    def forward(self, pcm: Tensor) -> Tensor:
        """Return [B, F, T] for samples [B, S]."""
        buffer = self.torchfbank.get_buffer
        padded = functional.pad(pcm[:, None], (1, 0), "reflect")
        sharp = functional.conv1d(padded, buffer("1.flipped_filter"))[:, 0]
        window = buffer("2.spectrogram.window")
        spectrum = torch.stft(
            sharp, FFT, HOP, WINDOW, window, center=True, pad_mode="reflect", return_complex=True
        )
        power = spectrum.abs().square()  # [B, 257, T]
        bands = (power.transpose(1, 2) @ buffer("2.mel_scale.fb")).transpose(1, 2)
        logs = (bands + LOG_FLOOR).log()
        return logs - logs.mean(-1, keepdim=True)


class _Backbone(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        channels, frequencies = CHANNELS, FREQUENCIES
        self.stem = nn.Sequential(nn.Conv2d(1, channels, 3, padding="same"), _ChannelNorm(channels))
        for number, (stride, _, _) in enumerate(STAGES):
            self.add_module(f"stage{number}", _Stage(number, channels, frequencies))
            channels, frequencies = channels * stride, frequencies // stride
        self.fin_wght1d = _Mix(len(STAGES) + 1, ROW)

    def forward(self, spectrum: Tensor) -> Tensor:
        """Run all stages: [B, 1, F, T] -> [B, 1152, T]."""
        rows = [_to_row(self.stem(spectrum))]
        for number in range(len(STAGES)):
            rows.append(self.get_submodule(f"stage{number}")(torch.stack(rows, dim=1)))
        out: Tensor = self.fin_wght1d(torch.stack(rows, dim=1))
        return out


class _Stage(nn.ModuleList):
    """A stage: [B, N, 1152, T] -> [B, 1152, T]. Its parts have the published file's numbers; at two
    of these it only reshapes.
    """

    def __init__(self, number: int, channels: int, frequencies: int) -> None:
        stride, count, reduction = STAGES[number]
        wider = channels * stride
        step = (stride, 1)
        mix = _Mix(number + 1, ROW if number else 1)
        narrow = nn.Conv2d(channels, wider, step, stride=step)
        blocks = [_ConvBlock(wider, wider // GROUP_DIVISOR) for _ in range(count)]
        context = _TimeContext(ROW, ROW // reduction)
        super().__init__((mix, nn.Identity(), narrow, *blocks, nn.Identity(), context))
        self._shape = (frequencies, channels)

    def forward(self, rows: Tensor) -> Tensor:
        mix, *layers, context = self
        row = mix(rows)
        plane = row.view(len(row), *self._shape, -1).transpose(1, 2)  # [B, C, F, T]
        for layer in layers:
            plane = layer(plane)
        out: Tensor = context(_to_row(plane))
        return out


class _Mix(nn.Module):
    """Sum of all rows before, with learnt weights: [B, N, 1152, T] -> [B, 1152, T]."""

    def __init__(self, rows: int, width: int) -> None:
        super().__init__()
        self.w = nn.Parameter(torch.zeros(1, rows, width, 1))

    def forward(self, rows: Tensor) -> Tensor:
        return (self.w.softmax(dim=1) * rows).sum(dim=1)


def _to_row(plane: Tensor) -> Tensor:
    """Reshape [B, C, F, T] -> [B, F C, T]."""
    return plane.transpose(1, 2).flatten(1, 2)


class _ConvBlock(nn.Module):
    def __init__(self, channels: int, groups: int) -> None:
        super().__init__()
        deep = nn.Conv2d(channels, channels, 3, padding="same", groups=groups)
        norm, wide = nn.BatchNorm2d(channels), nn.Conv2d(channels, channels, 1)
        parts = {"dwconvs": nn.ModuleList([deep]), "norm": norm, "pwconv1": wide}
        self.conv_block = nn.ModuleDict(parts)

    def forward(self, x: Tensor) -> Tensor:
        parts = self.conv_block
        deep = parts["norm"](parts["dwconvs"].get_submodule("0")(x))
        out: Tensor = x + parts["pwconv1"](functional.gelu(deep))
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
        names = ("k_proj", "v_proj", "q_proj", "out_proj")
        self.attention = nn.ModuleDict({name: nn.Linear(width, width) for name in names})
        self.layer_norm = nn.LayerNorm(width, eps=NORM_EPS)
        wide, narrow = nn.Linear(width, 2 * width), nn.Linear(2 * width, width)
        self.feed_forward = nn.ModuleDict({"intermediate_dense": wide, "output_dense": narrow})
        self.final_layer_norm = nn.LayerNorm(width, eps=NORM_EPS)

    def forward(self, row: Tensor) -> Tensor:
        x = row.transpose(1, 2)  # [B, T, width]
        *inner, last = self.attention.values()
        keys, values, queries = (
            part(x).unflatten(-1, (HEADS, -1)).transpose(1, 2) for part in inner
        )
        mixed = functional.scaled_dot_product_attention(queries, keys, values)
        x = self.layer_norm(x + last(mixed.transpose(1, 2).flatten(-2)))
        wide, narrow = self.feed_forward.values()
        grown = narrow(functional.gelu(wide(x), approximate="tanh"))
        out: Tensor = self.final_layer_norm(x + grown)
        return out.transpose(1, 2)


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
