"""Kokoro's decoder in torch, with the weights of the published int8 graph.

Only the timbre and its shift for each norm are trainable. Every weight is its byte times the scale.
The activations are exact here; the published graph rounds them. Invariant: the tensors have the
values and names of that graph.
"""

from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.utils.checkpoint import checkpoint

from engine.errors import ModelError
from engine.tts.kokoro.graph.decoder import ROOT, STEPS, WEIGHTS
from engine.tts.kokoro.graph.published import Published
from engine.tts.kokoro.parts import BINS, REFETCH, Floats, Parts, Source
from engine.tts.kokoro.plan import NaturalSpeech
from engine.tts.kokoro.voices import NORMS, TIMBRE

# The published inverse transform is not divided by the windows' sum of squares.
_GAIN: Final = 1.5


def _constants(published: Published, *names: str) -> list[Tensor]:
    return [torch.tensor(published.constant(name)) for name in names]


class _Snake(torch.autograd.Function):
    """y + sin(a y)^2 / a; only y is kept for the gradient."""

    @staticmethod
    def forward(ctx: Any, y: Tensor, a: Tensor) -> Tensor:
        ctx.save_for_backward(y, a)
        return (y * (2 * a)).cos_().neg_().add_(1).mul_(0.5 / a).add_(y)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None]:
        y, a = ctx.saved_tensors
        return (y * (2 * a)).sin_().add_(1).mul_(grad), None


class _Norm(nn.Module):
    """An instance norm whose gain and bias come from the timbre and this norm's shift of it."""

    def __init__(self, published: Published, path: str) -> None:
        super().__init__()
        self.path = path
        name = WEIGHTS + path.replace("/", ".") + ".fc."
        names = (name + each for each in ("weight_quantized", "weight_scale", "bias"))
        weight, scale, self.offset = _constants(published, *names)
        self.weight = weight * scale  # [128, 2 C]; zero is 0
        self.shift = torch.zeros(len(weight))

    def forward(self, x: Tensor, timbre: Tensor) -> Tensor:
        gamma, beta = self.affine(timbre)
        normal = functional.instance_norm(x)
        return torch.addcmul(beta[:, None], normal, 1 + gamma[:, None])

    def affine(self, timbre: Tensor) -> tuple[Tensor, Tensor]:
        """Return the gain less 1, and the bias, [C] each."""
        gamma, beta = ((timbre + self.shift) @ self.weight + self.offset).chunk(2)
        return gamma, beta


class _Conv(nn.Module):
    """A convolution whose weights never change."""

    def __init__(self, published: Published, path: str) -> None:
        super().__init__()
        self.path = path
        conv = published.convolution(ROOT + path)
        self.weight = torch.tensor(conv.weight.astype(np.float32) * np.float32(conv.scale))
        self.bias = None if conv.bias is None else torch.tensor(np.array(conv.bias))
        self.entry = conv.entry
        self.options = (conv.stride, conv.pads[0], conv.dilation)

    def forward(self, x: Tensor) -> Tensor:
        return functional.conv1d(x, self.weight, self.bias, *self.options)


class _Coarse(nn.Module):
    """A residual block of the coarse stage, which may double the rows."""

    def __init__(self, published: Published, path: str, *, doubles: bool = False) -> None:
        super().__init__()
        self.norms = nn.ModuleList(_Norm(published, f"{path}/norm{n}") for n in (1, 2))
        self.convs = nn.ModuleList(_Conv(published, f"{path}/conv{n}/Conv") for n in (1, 2))
        self.shortcut = _Conv(published, f"{path}/conv1x1/Conv")
        names = (f"{ROOT}{path}/Mul_output_0", f"{WEIGHTS}{path}.pool.bias")
        self.pool = _constants(published, *names) if doubles else []

    def forward(self, x: Tensor, timbre: Tensor) -> Tensor:
        y = functional.leaky_relu(self.norms[0](x, timbre), 0.2)
        if self.pool:
            weight, bias = self.pool
            y = functional.conv_transpose1d(y, weight, bias, 2, 1, 1, groups=len(weight))
            x = x.repeat_interleave(2, -1)
        y = functional.leaky_relu(self.norms[1](self.convs[0](y), timbre), 0.2)
        total: Tensor = (self.convs[1](y) + self.shortcut(x)) * 0.5**0.5
        return total


class _Fine(nn.Module):
    """A residual block of the fine stages; the gradient computes it again, to save memory."""

    def __init__(self, published: Published, path: str) -> None:
        super().__init__()
        pairs = [(half, number) for number in range(3) for half in (1, 2)]
        self.norms = nn.ModuleList(_Norm(published, f"{path}/adain{h}.{n}") for h, n in pairs)
        self.convs = nn.ModuleList(_Conv(published, f"{path}/convs{h}.{n}/Conv") for h, n in pairs)
        name = WEIGHTS + path.replace("/", ".")
        self.alphas = _constants(published, *(f"{name}.alpha{h}.{n}" for h, n in pairs))

    def forward(self, x: Tensor, timbre: Tensor) -> Tensor:
        for pair in range(3):
            x = checkpoint(self._pair, x, timbre, pair, use_reentrant=False)
        return x

    def _pair(self, x: Tensor, timbre: Tensor, pair: int) -> Tensor:
        y = x
        for place in (2 * pair, 2 * pair + 1):
            normal, alpha = self.norms[place](y, timbre), self.alphas[place]
            bent = _Snake.apply(normal, alpha)  # type: ignore[no-untyped-call]
            y = self.convs[place](bent)
        return x + y


class TorchDecoder(nn.Module):
    """Samples from features; see forward(). The weights are constants; only a timbre or a shift
    that requires a gradient gets one.
    """

    def __init__(self, published: Published) -> None:
        """Some seconds; 182 MB."""
        super().__init__()
        self.residual = _Conv(published, "asr_res/asr_res.0/Conv")
        self.encode = _Coarse(published, "encode")
        self.decode = nn.ModuleList(
            _Coarse(published, f"decode.{n}", doubles=n == 3) for n in range(4)
        )
        path = "generator/"
        self.noise_convs = nn.ModuleList(
            _Conv(published, f"{path}noise_convs.{n}/Conv") for n in (0, 1)
        )
        self.noise = nn.ModuleList(_Fine(published, f"{path}noise_res.{n}") for n in (0, 1))
        self.blocks = nn.ModuleList(_Fine(published, f"{path}resblocks.{n}") for n in range(6))
        names = (("Mul", "ups.0"), ("Mul_1", "ups.1"), ("Mul_2", "conv_post"))
        *self.ups, self.post = (
            _constants(published, f"{ROOT}{path}{of}_output_0", f"{WEIGHTS}generator.{part}.bias")
            for of, part in names
        )
        self.window = torch.hann_window(20)
        found = [each for each in self.modules() if isinstance(each, _Norm)]
        self.norms = sorted(found, key=lambda norm: norm.path)

    def forward(self, features: Tensor, curves: Tensor, spectrum: Tensor, timbre: Tensor) -> Tensor:
        """Return samples [600 T] for [1, C, T], [1, 2, T], [1, 22, 120 T + 1] and [128]."""
        x = self.encode(torch.cat([features, curves], 1), timbre)
        more = torch.cat([self.residual(features), curves], 1)
        for block in self.decode:
            x = block(torch.cat([x, more], 1), timbre)
        for stage, step in enumerate(STEPS):
            x = functional.leaky_relu(x, 0.1)
            noise = self.noise[stage](self.noise_convs[stage](spectrum), timbre)
            weight, bias = self.ups[stage]
            x = functional.conv_transpose1d(x, weight, bias, step, step // 2)
            x = (functional.pad(x, (1, 0), mode="reflect") if stage else x) + noise
            x = sum(self.blocks[3 * stage + n](x, timbre) for n in range(3)) / 3
        weight, bias = self.post
        x = functional.conv1d(functional.leaky_relu(x, 0.01), weight, bias, padding=3)
        size, turn = x[:, :BINS].float().exp(), x[:, BINS:].float().sin()
        pcm: Tensor = torch.istft(torch.polar(size, turn), 20, 5, 20, self.window)[0]
        return _GAIN * pcm

    def set_shift(self, shift: Tensor) -> None:
        """Set the distance of each norm's timbre from the common one, [N, 128], by norm name."""
        for norm, row in zip(self.norms, shift, strict=True):
            norm.shift = row


def load_decoder(file: Path) -> TorchDecoder:
    """Load the decoder of the published file. ModelError if it cannot be read."""
    try:
        return TorchDecoder(Published(file))
    except Exception as error:
        raise ModelError(
            "{file} cannot be used: {error}.", hint=REFETCH, file=file, error=error
        ) from error


def inputs_of(source: Source, speech: NaturalSpeech) -> list[Tensor]:
    """Return the inputs of forward() before the timbre."""
    spectrum = source.spectrum(speech.pitch, speech.turns, 0, len(speech.features))
    rows = (speech.features, speech.curves, spectrum)
    return [torch.tensor(np.ascontiguousarray(each.T, np.float32))[None] for each in rows]


def timbre_of(style: Floats) -> Tensor:
    """Return the first half of a style [1, 256]."""
    return torch.tensor(style[0, :TIMBRE])


@torch.no_grad()
def measure(
    decoder: TorchDecoder, parts: Parts, speech: NaturalSpeech, style: Floats, shift: Floats | None
) -> dict[str, npt.NDArray[np.float64]]:
    """Measure a sentence for statistics.py: flat arrays by the names of the graph's tensors."""
    found: dict[str, Any] = {}
    timbre = timbre_of(style)
    decoder.set_shift(torch.zeros(NORMS, TIMBRE) if shift is None else torch.tensor(shift))

    def hook(module: Any, args: Any, out: Tensor) -> None:
        if isinstance(module, _Norm):
            names, x = parts.layout["norms"][module.path], args[0][0]
            gamma, beta = module.affine(timbre)
            found[names["gamma"]], found[names["beta"]] = 1 + gamma, beta
            found[names["mean"]], found[names["variance"]] = x.mean(-1), x.var(-1, unbiased=False)
        if isinstance(module, _Conv):
            result = f"{ROOT}{module.path}_output_0"
            for name, x, axes in ((result, out, (0, 2)), (module.entry, args[0], (0, 1, 2))):
                found[f"ReduceMin {name}"], found[f"ReduceMax {name}"] = x.amin(axes), x.amax(axes)

    with ExitStack() as hooks:
        for module in decoder.modules():
            hooks.callback(module.register_forward_hook(hook).remove)
        decoder(*inputs_of(parts.source, speech), timbre)
    return {name: np.asarray(each, np.float64).reshape(-1) for name, each in found.items()}
