"""Mimi's upsampling half (SEANet's decoder) as one packed graph, for the few columns of a frame.

Columns lie one after the other, [B, T, C]: then a convolution is a product of neighbouring columns,
and an upsampling one a product whose halves overlap, and nothing has to be transposed. On one core
it costs 4.9 ms a frame; moshi's code with packed and plain products costs 8.1. Invariant: it
computes what moshi's module computes with the restored weights, however the columns are chunked.
What a stream remembers is its state, as everywhere in moshi.
"""

from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np
import torch
from moshi.modules.conv import StreamingConv1d, StreamingConvTranspose1d
from moshi.modules.seanet import SEANetDecoder, SEANetResnetBlock
from moshi.modules.streaming import State, StreamingModule
from torch import Tensor, from_numpy, nn

from engine.nn.packed.product_graph import Array, ProductGraph
from engine.nn.packed.quantise import Precision

HEAVY = 1 << 20  # with more weights than this, a product waits for memory longer than it computes
_END = np.iinfo(np.int64).max


@dataclass
class LastColumns(State):
    """The earlier columns that each convolution, in order, still needs, [B, .., C]."""

    columns: list[Tensor] = field(default_factory=list)

    def reset(self, reset_mask: Tensor) -> None:
        super().reset(reset_mask)
        for columns in self.columns:
            columns[reset_mask] = 0


class PackedSeanet(StreamingModule[LastColumns]):
    """Stands where moshi's SEANetDecoder stood; `packable` says whether it can."""

    def __init__(self, origin: SEANetDecoder, precision: Precision) -> None:
        super().__init__()
        graph = _SeanetGraph(precision)
        for layer in origin.model:
            graph.layer(layer)
        self._shapes = graph.shapes
        self._session = graph.finish()
        # moshi takes the device from the parameters of the enclosing module.
        self.nothing = nn.Parameter(torch.empty(0), requires_grad=False)

    def forward(self, x: Tensor) -> Tensor:
        """The stream's next columns [B, C, T] -> samples [B, 1, S]."""
        state = self._streaming_state or self._init_streaming_state(x.shape[0])
        feeds = {f"before{n}": columns.numpy() for n, columns in enumerate(state.columns)}
        feeds["x"] = x.transpose(1, 2).contiguous().numpy()
        pcm, *columns = map(from_numpy, self._session.run(None, feeds))
        state.columns = columns
        return pcm.transpose(1, 2)

    def _init_streaming_state(self, batch_size: int) -> LastColumns:
        columns = [torch.zeros(batch_size, *shape) for shape in self._shapes]
        return LastColumns(batch_size, torch.device("cpu"), columns)


def packable(module: SEANetDecoder) -> bool:
    """Whether it is built as Mimi's is."""
    return all(
        _is_plain(layer) or (isinstance(layer, SEANetResnetBlock) and _is_residual(layer))
        for layer in module.model
    )


def _is_plain(layer: Any) -> bool:
    if isinstance(layer, StreamingConv1d):
        conv = layer.conv.conv
        plain = (conv.stride, conv.dilation, conv.groups) == ((1,), (1,), 1)
        return plain and layer.pad_mode == "constant"
    if isinstance(layer, StreamingConvTranspose1d):
        spread = layer.convtr.convtr
        return spread.groups == 1 and spread.kernel_size[0] == 2 * spread.stride[0]
    return isinstance(layer, nn.ELU) and layer.alpha == 1


def _is_residual(layer: SEANetResnetBlock) -> bool:
    return isinstance(layer.shortcut, nn.Identity) and all(map(_is_plain, layer.block))


class _SeanetGraph(ProductGraph):
    """Built layer by layer; `x` is the name of the last value, `shapes` those of the state [..,
    C]."""

    def __init__(self, precision: Precision) -> None:
        super().__init__()
        self._precision = precision
        self._count = 0
        self.x = "x"
        self.width = 0
        self.shapes: list[tuple[int, int]] = []

    def layer(self, layer: Any) -> None:
        if isinstance(layer, SEANetResnetBlock):
            before = self.x
            for part in cast(Any, layer.block):
                self.layer(part)
            self._next("Add", [before, self.x])
        elif isinstance(layer, StreamingConv1d):
            self._convolve(layer.conv.conv)
        elif isinstance(layer, StreamingConvTranspose1d):
            self._spread(layer.convtr.convtr)
        else:
            self._next("Elu", [self.x])

    def finish(self) -> Any:
        self.add("Identity", [self.x], ["y"])
        inputs: dict[str, list[Any]] = {}
        outputs: dict[str, list[Any]] = {"y": [None, None, None]}
        for number, shape in enumerate(self.shapes):
            inputs[f"before{number}"] = outputs[f"kept{number}"] = [None, *shape]
        inputs["x"] = [None, None, self.width]
        return self.compile(inputs, outputs, threads=1)

    def _convolve(self, conv: nn.Conv1d) -> None:
        taps, width = conv.kernel_size[0], conv.in_channels
        self.width = self.width or width
        if taps > 1:
            long = self._joined(taps - 1, width)
            self._slice(long, 1 - taps, _END, f"kept{len(self.shapes) - 1}")
            parts = [
                self._slice(long, tap, tap + 1 - taps or _END, f"{long}.{tap}")
                for tap in range(taps)
            ]
            self._next("Concat", parts, axis=-1)
        weight = conv.weight.detach().transpose(1, 2).flatten(1)  # [N, k C]
        self._multiply(weight, heavy=weight.numel() >= HEAVY)
        self._shift(conv.bias)

    def _spread(self, conv: nn.ConvTranspose1d) -> None:
        """Column t contributes `step` columns at its own place and as many at the next one's."""
        step, width = conv.stride[0], conv.out_channels
        weight = conv.weight.detach().permute(2, 1, 0).flatten(0, 1)  # [2 step C, C_in]
        self._multiply(weight, heavy=True)
        now, late = f"{self.x}.now", f"{self.x}.late"
        sizes = self.constant(f"{self.x}.sizes", np.array([step * width] * 2, dtype=np.int64))
        self.add("Split", [self.x, sizes], [now, late], axis=-1)
        self.x = late
        long = self._joined(1, step * width)
        self._slice(long, -1, _END, f"kept{len(self.shapes) - 1}")
        self._next("Add", [now, self._slice(long, 0, -1, f"{long}.due")])
        shape = self.constant(f"{self.x}.shape", np.array([0, -1, width], dtype=np.int64))
        self._next("Reshape", [self.x, shape])
        self._shift(conv.bias)

    def _joined(self, columns: int, width: int) -> str:
        """The columns kept from before, followed by x."""
        self.shapes.append((columns, width))
        self._next("Concat", [f"before{len(self.shapes) - 1}", self.x], axis=1)
        return self.x

    def _multiply(self, weight: Tensor, *, heavy: bool) -> None:
        """x weight^T, packed where that pays and the inputs fill whole blocks."""
        y = f"v{self._count}"
        self._count += 1
        if heavy and not weight.shape[1] % self._precision.block:
            self.product(self.x, y, weight, self._precision)
        else:
            turned: Array = weight.t().contiguous().numpy()
            self.add("MatMul", [self.x, self.constant(f"{y}.weight", turned)], [y])
        self.x = y

    def _shift(self, bias: Tensor | None) -> None:
        if bias is not None:
            self._next("Add", [self.x, self.constant(f"{self.x}.bias", bias.detach().numpy())])

    def _next(self, kind: str, inputs: list[str], **attributes: Any) -> None:
        self.x = f"v{self._count}"
        self._count += 1
        self.add(kind, inputs, [self.x], **attributes)

    def _slice(self, x: str, start: int, end: int, y: str) -> str:
        """Columns start..end-1 of x, counted from the end where negative."""
        bounds = [("start", start), ("end", end), ("axis", 1)]
        names = [
            self.constant(f"{y}.{name}", np.array([value], dtype=np.int64))
            for name, value in bounds
        ]
        self.add("Slice", [x, *names], [y])
        return y
