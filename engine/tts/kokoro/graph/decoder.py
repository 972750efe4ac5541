"""Kokoro's decoder written anew for onnxruntime: the same weights, other nodes, half of the time.

Rows run over time throughout ([1, T, C]), so that a convolution of bytes reads its rows in place.
The instance norms are affine maps, whose gains and biases belong to the voice, as do the ranges of
the bytes (statistics.py). The spectrum of the source comes from outside (parts.py). Every
convolution gets as many rows around the wanted frames as the convolutions after it see, and no
more: in a short window that is a quarter of the time. Invariants: the sums are those of the
published graph, but the result of each convolution is also rounded to a byte; a frame's samples do
not depend on the window around it.
"""

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper

from engine.tts.kokoro.graph.published import Array, Convolution, Published, made
from engine.tts.kokoro.parts import BINS

ROOT: Final = "/decoder/decoder/"
WEIGHTS: Final = "decoder.decoder."
STEPS: Final = (10, 6)  # rows that each upsampling makes of one
# Rows around the wanted frames. Of the finest, the samples need one, their convolution three more;
# a residual block of 11 taps sees 60, one of 7 taps 36. Upsampling gives the outermost half step
# wrong, and the finest rows lie one further on. A coarse block sees two; the last makes two rows of
# a frame, the second of them out of the next frame as well.
LAST_SEEN: Final = 4
_FINE: Final = LAST_SEEN + 60  # 120 rows a frame
_MIDDLE_LEFT: Final = -(-(_FINE + 4) // STEPS[1])
_MIDDLE: Final = _MIDDLE_LEFT + 60  # 20 rows a frame
_COARSE_LEFT: Final = -(-(_MIDDLE + 5) // STEPS[0])  # 2 rows a frame
_DOUBLED: Final = _COARSE_LEFT // 2 + 2
FEATURES_SEEN: Final = _DOUBLED + 4 * 2
SPECTRUM_SEEN: Final = -(-(_MIDDLE + 36) // 20)
_WIDTH, _HOP = 20, 5  # samples
_GAIN: Final = 4.0  # of the published inverse transform
_END: Final = np.iinfo(np.int64).max
_FLOAT, _INT64 = TensorProto.FLOAT, TensorProto.INT64
# 1 - cos(2 pi r) for r from -1/2 to 1/2 is about c1 r^2 + c2 r^4 + c3 r^6, at most 0.0016 off,
# which is less than a byte resolves. onnxruntime's own cosine takes twice as long as all that.
_VERSINE: Final = (19.6035438, -61.5339228, 60.5838624)


class DecoderGraph:
    """Builds the graph, once. Afterwards its attributes list the inputs that a voice must supply;
    each input is named by its kind and the name in the list.

    `norms`: for each name `gain` and `bias` [C], both times the factor if there is one (before a
    snake activation). `entries`: published tensors that are rounded to bytes, each with `scale` and
    `zero`. `convolutions`: for each name `weights` [C] and `start` int32 [C], and `step` and
    `least` [C] unless a norm contains these. `folded_norms`: names of norms that are computed on
    the bytes of a convolution, and that convolution; its step and least are part of the norm's gain
    and bias. The keys of `crops` are rows per frame, rows around the wanted frames before a crop,
    and after it.
    """

    def __init__(self, published: Published) -> None:
        self._published = published
        self._nodes: list[NodeProto] = []
        self._constants: dict[str, TensorProto] = {}
        self.norms: dict[str, Array | None] = {}
        self.entries: list[str] = []
        self.convolutions: dict[str, Convolution] = {}
        self.folded_norms: dict[str, str] = {}
        self.crops: dict[tuple[int, int, int], int] = {}

    def build(self) -> ModelProto:
        """Return the graph. Inputs: features [1, T, C] and curves [1, T, 2] of the wanted frames
        and of FEATURES_SEEN frames around them, spectrum [1, 120 N + 1, 22] of the wanted frames
        and of SPECTRUM_SEEN around them, `crops` [K, 2] (first and last row to keep, for each of
        `crops`), and those of the voice. Output: samples, from five after the first of LAST_SEEN
        rows around the frames to five before the last.
        """
        middle = self._upsampled(0, self._coarse())
        middle = self._crop(middle, 20, STEPS[0] * _COARSE_LEFT, _MIDDLE)
        noise = self._convolution("generator/noise_convs.0/Conv", "spectrum")
        path = "generator/noise_res.0"
        noise = self._residual(path, noise, 20, 20 * SPECTRUM_SEEN, _MIDDLE)
        middle = self._voiced(0, self._add("Add", middle, noise), 20, _MIDDLE, _MIDDLE_LEFT)
        fine = self._padded(self._upsampled(1, middle), 1, 0, mode="reflect")
        fine = self._crop(fine, 120, STEPS[1] * _MIDDLE_LEFT, _FINE)
        spectrum = self._crop("spectrum", 120, 120 * SPECTRUM_SEEN, _FINE + 60)
        noise = self._convolution("generator/noise_convs.1/Conv", spectrum)
        noise = self._residual("generator/noise_res.1", noise, 120, _FINE + 60, _FINE)
        self._samples(self._voiced(1, self._add("Add", fine, noise), 120, _FINE, LAST_SEEN))
        return self._model()

    # ------------------------------------------------------------------ the coarse stage

    def _coarse(self) -> str:
        residual = self._convolution("asr_res/asr_res.0/Conv", "features")
        x = self._block("encode", self._add("Concat", "features", "curves", axis=2))
        curves, around = "curves", FEATURES_SEEN
        for number in range(4):
            x, residual, curves = (
                self._crop(each, 1, around, around - 2) for each in (x, residual, curves)
            )
            around -= 2
            joined = self._add("Concat", x, residual, curves, axis=2)
            x = self._block(f"decode.{number}", joined, doubles=number == 3)
        return self._crop(x, 2, 2 * around, _COARSE_LEFT)

    def _block(self, path: str, x: str, *, doubles: bool = False) -> str:
        """Add a residual block, which may double the number of rows."""
        main = self._leaky(self._norm(f"{path}/norm1", x), 0.2)
        if doubles:
            main, x = self._doubled(path, main, x)
        main = self._bytes(f"{path}/conv1/Conv", main)
        self.folded_norms[f"{path}/norm2"] = f"{path}/conv1/Conv"
        main = self._leaky(self._norm(f"{path}/norm2", main), 0.2)
        main = self._convolution(f"{path}/conv2/Conv", main)
        shortcut = self._convolution(f"{path}/conv1x1/Conv", x)
        return self._add("Mul", self._add("Add", main, shortcut), self._floats("half", 0.5**0.5))

    def _doubled(self, path: str, x: str, shortcut: str) -> tuple[str, str]:
        """Add a transposed convolution of each channel on its own, which makes two rows of each,
        and repeat the rows of the shortcut.
        """
        weight = self._published.constant(f"{ROOT}{path}/Mul_output_0")  # [C, 1, 3]
        before, here, after = (self._floats(f"pool {n}", weight[:, 0, n]) for n in range(3))
        bias = self._floats("pool bias", self._published.constant(f"{WEIGHTS}{path}.pool.bias"))
        first, last = self._ints("one", 1), self._ints("end", _END)
        following = self._slice(self._padded(x, 0, 1), first, last)
        even = self._add("Add", self._add("Mul", x, here), bias)
        odd = self._add("Add", self._add("Mul", x, after), self._add("Mul", following, before))
        pairs = (even, self._add("Add", odd, bias)), (shortcut, shortcut)
        shape = self._ints("joined", 1, -1, len(weight))
        doubled, twice = (
            self._add("Reshape", self._add("Concat", *pair, axis=2), shape) for pair in pairs
        )
        return doubled, twice

    # ------------------------------------------------------------------ the fine stages

    def _voiced(self, number: int, x: str, rows: int, around: int, left: int) -> str:
        parts = [
            self._residual(f"generator/resblocks.{3 * number + n}", x, rows, around, left)
            for n in range(3)
        ]
        total = self._add("Add", self._add("Add", parts[0], parts[1]), parts[2])
        return self._add("Mul", total, self._floats("third", 1 / 3))

    def _residual(self, path: str, x: str, rows: int, around: int, left: int) -> str:
        """Add a residual block with `rows` rows per frame. `around` and `left`: the number of rows
        around the wanted frames before and after the block.
        """
        pairs = [[f"{path}/convs{half}.{number}/Conv" for half in (1, 2)] for number in range(3)]
        convs = [[self._published.convolution(ROOT + name) for name in pair] for pair in pairs]
        # Rows that the convolutions of each pair see on each side.
        sees = [sum(c.dilation * (c.weight.shape[2] // 2) for c in pair) for pair in convs]
        for number, (first, second) in enumerate(pairs):
            needed = left + sum(sees[number:])
            x, around = self._crop(x, rows, around, needed), needed
            main = self._bytes(first, self._snake(path, f"1.{number}", x))
            self.folded_norms[f"{path}/adain2.{number}"] = first
            main = self._convolution(second, self._snake(path, f"2.{number}", main))
            x = self._add("Add", main, x)
        return self._crop(x, rows, around, left)

    def _snake(self, path: str, part: str, x: str) -> str:
        """Add the activation y + sin(a y)^2 / a, where y is a norm of x. With w = a y / pi, whose
        factor is part of the voice's gain and bias, it is w pi / a + (1 - cos 2 pi w) / 2 a.
        """
        name = f"{path}/adain{part}"
        alpha = self._published.constant(f"{WEIGHTS}{path}.alpha{part}".replace("/", "."))
        alpha = alpha.reshape(-1)
        w = self._norm(name, x, alpha / np.pi)
        rest = self._add("Sub", w, self._add("Round", w))
        square = self._add("Mul", rest, rest)
        total = self._floats("c3", _VERSINE[2])
        for place in (2, 1):
            total = self._add("Mul", total, square)
            total = self._add("Add", total, self._floats(f"c{place}", _VERSINE[place - 1]))
        share, turn = 0.5 / alpha, np.pi / alpha
        bent = self._add(
            "Mul", self._add("Mul", total, square), self._floats(f"{name} share", share)
        )
        turned = self._add("Mul", w, self._floats(f"{name} turn", turn))
        return self._add("Add", turned, bent)

    def _upsampled(self, number: int, x: str) -> str:
        """Add a transposed convolution of a kernel of two steps, as one matrix product."""
        weight = self._published.constant(f"{ROOT}generator/Mul{'_1' if number else ''}_output_0")
        step, channels = STEPS[number], weight.shape[1]
        matrix = self._floats(f"ups {number}", weight.transpose(0, 2, 1).reshape(len(weight), -1))
        product = self._add("MatMul", self._leaky(x, 0.1), matrix)
        here, later = self._split(product, 2, step * channels)
        total = self._add("Add", self._padded(here, 0, 1), self._padded(later, 1, 0))
        rows = self._add("Reshape", total, self._ints(f"rows {number}", 1, -1, channels))
        first, last = (self._ints(f"half {half}", half) for half in (step // 2, -(step // 2)))
        bias = self._published.constant(f"{WEIGHTS}generator.ups.{number}.bias")
        inner = self._slice(rows, first, last)
        return self._add("Add", inner, self._floats(f"bias {number}", bias))

    def _samples(self, x: str) -> None:
        weight = self._published.constant(f"{ROOT}generator/Mul_2_output_0")  # [22, C, taps]
        taps = weight.shape[2]
        matrix = self._floats("post", weight.transpose(1, 2, 0).reshape(weight.shape[1], -1))
        padded = self._padded(self._leaky(x, 0.01), taps // 2, taps // 2)
        columns = self._split(self._add("MatMul", padded, matrix), taps, 2 * BINS)
        bias = self._published.constant(f"{WEIGHTS}generator.conv_post.bias")
        spectra = self._add("Add", self._summed(columns), self._floats("post bias", bias))
        size, turn = self._split(spectra, 2, BINS)
        size, turn = self._add("Exp", size), self._add("Sin", turn)
        parts = [self._add("Mul", size, self._add(kind, turn)) for kind in ("Cos", "Sin")]
        basis = self._published.constant(f"{WEIGHTS}generator.stft.istft.stft.inverse_basis")
        inverse = self._floats("inverse", basis[:, 0] * _GAIN)
        pieces = self._add("MatMul", self._add("Concat", *parts, axis=2), inverse)
        columns = self._split(pieces, _WIDTH // _HOP, _HOP)
        self._add("Reshape", self._summed(columns[::-1]), self._ints("flat", -1), output="samples")

    def _summed(self, columns: Sequence[str]) -> str:
        """Add up columns, each shifted by one row against the one before."""
        total = ""
        for lead, column in enumerate(columns):
            left = len(columns) - 1 - lead
            end = self._ints(f"end {left}", -left or _END)
            part = self._slice(column, self._ints(f"lead {lead}", lead), end)
            total = self._add("Add", total, part) if total else part
        return total

    # ------------------------------------------------------------------ parts

    def _norm(self, name: str, x: str, factor: Array | None = None) -> str:
        self.norms[name] = factor
        return self._add("Add", self._add("Mul", x, f"gain {name}"), f"bias {name}")

    def _convolution(self, name: str, x: str) -> str:
        product = self._add("Mul", self._bytes(name, x), f"step {name}")
        return self._add("Add", product, f"least {name}")

    def _bytes(self, name: str, x: str) -> str:
        """Add a convolution of bytes. Each channel of its result has its own range, because a norm
        after it makes a quiet channel as loud as the others, and its rounding errors too.
        """
        conv = self._published.convolution(ROOT + name)
        self.convolutions[name] = conv
        if conv.entry not in self.entries:
            self.entries.append(conv.entry)
        scale, zero = f"scale {conv.entry}", f"zero {conv.entry}"
        signs = np.zeros(len(conv.weight), np.int8)
        summed = self._add(
            "QLinearConv", self._add("QuantizeLinear", x, scale, zero), scale, zero,
            self._constant(f"{name} weight", conv.weight), f"weights {name}",
            self._constant(f"{name} zero", signs), self._floats("unit", 1.0),
            self._constant("nothing", np.array(0, np.uint8)), f"start {name}",
            domain="com.microsoft", channels_last=1, kernel_shape=[conv.weight.shape[2]],
            dilations=[conv.dilation], pads=list(conv.pads), strides=[conv.stride],
        )  # fmt: skip
        return self._add("Cast", summed, to=_FLOAT)

    def _leaky(self, x: str, alpha: float) -> str:
        return self._add("LeakyRelu", x, alpha=alpha)

    def _padded(self, x: str, before: int, after: int, **mode: str) -> str:
        pads = self._ints(f"pad {before} {after}", 0, before, 0, 0, after, 0)
        return self._add("Pad", x, pads, **mode)

    def _slice(self, x: str, first: str, last: str) -> str:
        return self._add("Slice", x, first, last, self._ints("one", 1))

    def _crop(self, x: str, rows: int, around: int, left: int) -> str:
        """Reduce the rows around the wanted frames from `around` to `left`; see `crops`."""
        if around == left:
            return x
        number = self.crops.setdefault((rows, around, left), len(self.crops))
        return self._slice(x, f"crop {2 * number}", f"crop {2 * number + 1}")

    def _split(self, x: str, count: int, width: int) -> list[str]:
        sizes = self._ints(f"{count} times {width}", *[width] * count)
        names = [f"{x} {number}" for number in range(count)]
        self._nodes.append(helper.make_node("Split", [x, sizes], names, axis=2))
        return names

    def _add(self, kind: str, *inputs: str, output: str = "", **attributes: Any) -> str:
        output = output or f"{kind} {len(self._nodes)}"
        self._nodes.append(helper.make_node(kind, inputs, [output], **attributes))
        return output

    def _ints(self, name: str, *values: int) -> str:
        return self._constant(name, np.asarray(values, np.int64))

    def _floats(self, name: str, values: Any) -> str:
        return self._constant(name, np.array(values, np.float32, order="C"))

    def _constant(self, name: str, values: Array) -> str:
        self._constants.setdefault(name, numpy_helper.from_array(values, name))
        return name

    def _model(self) -> ModelProto:
        shapes: dict[str, list[str | int]] = {
            "features": [1, "T", "C"],
            "curves": [1, "T", 2],
            "spectrum": [1, "R", 2 * BINS],
        }
        inputs = [helper.make_tensor_value_info(n, _FLOAT, shape) for n, shape in shapes.items()]
        count = 2 * len(self.crops)
        inputs.append(helper.make_tensor_value_info("crops", _INT64, [len(self.crops), 2]))
        sizes, flat = self._ints("crop sizes", *[1] * count), self._ints("flat", -1)
        names = [f"crop {number}" for number in range(count)]
        self._nodes[:0] = [
            helper.make_node("Reshape", ["crops", flat], ["all crops"]),
            helper.make_node("Split", ["all crops", sizes], names, axis=0),
        ]
        kinds = [(name, {"gain": _FLOAT, "bias": _FLOAT}) for name in self.norms]
        kinds += [(name, {"scale": _FLOAT, "zero": TensorProto.UINT8}) for name in self.entries]
        for name in self.convolutions:
            kinds.append((name, {"weights": _FLOAT, "start": TensorProto.INT32}))
            if name not in self.folded_norms.values():
                kinds.append((name, {"step": _FLOAT, "least": _FLOAT}))
        for name, parts in kinds:
            rank: list[str] = [] if "scale" in parts else ["C"]
            for part, kind in parts.items():
                inputs.append(helper.make_tensor_value_info(f"{part} {name}", kind, rank))
        outputs = [helper.make_tensor_value_info("samples", _FLOAT, ["S"])]
        return made(self._nodes, inputs, outputs, list(self._constants.values()))
