"""Convolutions of integers as matrix products, which onnxruntime computes twice as fast.

ConvInteger takes unsigned weights, for which there is no fast product. Here the weights are signed
if the processor adds signed products exactly. Kokoro's speech then takes two thirds of the time (a
convolution: 150 against 190 to 380 GOPS). Invariant: sums of integers are exact, so the samples are
those of ConvInteger with the same levels (cutting.py uses fewer levels where signed products would
saturate).
"""

from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import onnxruntime
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper

from engine.tts.kokoro.graph.exact import sums_exactly

_MIDDLE: Final = 128  # of bytes without a sign
_LARGEST: Final = 127  # of bytes with a sign
_PROBED: Final = 64  # products that are added up
_LAST: Final = np.iinfo(np.int64).max
_TIME: Final = 1  # axis, once the channels come last


def with_products(
    nodes: Iterable[NodeProto], constants: Iterable[TensorProto]
) -> tuple[list[NodeProto], list[TensorProto]]:
    """Replace every one-dimensional ConvInteger that keeps the length of its input. Constants that
    no node reads any more are left out.
    """
    known = {constant.name: constant for constant in constants}
    after = []
    for node in nodes:
        if node.op_type == "ConvInteger" and _keeps_length(node, known[node.input[1]]):
            parts = _Parts(node, known)
            known |= {constant.name: constant for constant in parts.constants}
            after += parts.nodes
        else:
            after.append(node)
    read = {name for node in after for name in node.input}
    return after, [constant for name, constant in known.items() if name in read]


def _keeps_length(node: NodeProto, weight: TensorProto) -> bool:
    own = _attributes(node)
    reach = own.get("dilations", [1])[0] * (weight.dims[-1] - 1)
    return (
        len(weight.dims) == 3
        and own.get("group", 1) == 1
        and own.get("strides", [1]) == [1]
        and own.get("pads", [0, 0]) == [reach // 2, reach - reach // 2]
    )


class _Parts:
    """The nodes and constants that replace a convolution, named after its output."""

    def __init__(self, node: NodeProto, weights: dict[str, TensorProto]) -> None:
        self.nodes: list[NodeProto] = []
        self.constants: list[TensorProto] = []
        x, weight, x_zero, weight_zero = node.input
        self._name = node.output[0]
        own, array = _attributes(node), numpy_helper.to_array(weights[weight])
        left, right = own.get("pads", [0, 0])
        padded = self._add(
            "Pad", "padded", x, self._constant("pads", [0, 0, left, 0, 0, right]), x_zero
        )
        rows = self._add("Transpose", "rows", padded, perm=[0, 2, 1])
        pieces = list(self._pieces(rows, array.shape[-1], own.get("dilations", [1])[0]))
        columns = self._add("Concat", "columns", *pieces, axis=2)
        matrix = array.transpose(2, 1, 0).reshape(-1, len(array))
        zero = numpy_helper.to_array(weights[weight_zero])
        if signs_are_exact():
            matrix, zero = _signed(matrix), _signed(zero)
        product = self._add(
            "MatMulInteger", "product", columns, self._constant("weight", matrix),
            x_zero, self._constant("zero", zero),
        )  # fmt: skip
        self.nodes.append(helper.make_node("Transpose", [product], [self._name], perm=[0, 2, 1]))

    def _pieces(self, rows: str, count: int, dilation: int) -> Iterator[str]:
        """Yield the input rows for each place of the kernel: the same rows, shifted."""
        axis = self._constant("axis", [_TIME])
        for place in range(count):
            start, left = place * dilation, (count - 1 - place) * dilation
            ends = (
                self._constant(f"{name} {place}", [value])
                for name, value in (("start", start), ("end", -left or _LAST))
            )
            yield self._add("Slice", f"piece {place}", rows, *ends, axis)

    def _add(self, kind: str, name: str, *inputs: str, **attributes: Any) -> str:
        output = f"{self._name} {name}"
        self.nodes.append(helper.make_node(kind, inputs, [output], **attributes))
        return output

    def _constant(self, name: str, value: Any) -> str:
        self.constants.append(numpy_helper.from_array(np.asarray(value), f"{self._name} {name}"))
        return self.constants[-1].name


@lru_cache(maxsize=1)
def signs_are_exact() -> bool:
    """True if sums of products with signed weights are exact on this processor. Without VNNI, as on
    AVX2 alone, two products are added in 16 bits, and 255 * 127 + 255 * 127 does not fit.
    """
    session = onnxruntime.InferenceSession(
        probe().SerializeToString(), providers=["CPUExecutionProvider"]
    )
    return sums_exactly(session)


def probe() -> ModelProto:
    """Build a graph for sums_exactly(); stored with the cut, so a start does not need onnx."""
    inputs = [helper.make_tensor_value_info("x", TensorProto.UINT8, [1, _PROBED])]
    constants = [
        numpy_helper.from_array(np.full((_PROBED, 1), _LARGEST, np.int8), "weight"),
        numpy_helper.from_array(np.array([[255 * _LARGEST * _PROBED]], np.int32), "exact sum"),
    ]
    nodes = [
        helper.make_node("MatMulInteger", ["x", "weight"], ["sum"]),
        helper.make_node("Equal", ["sum", "exact sum"], ["is exact"]),
    ]
    outputs = [helper.make_tensor_value_info("is exact", TensorProto.BOOL, [1, 1])]
    graph = helper.make_graph(nodes, "probe", inputs, outputs, constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)


def _signed(array: npt.NDArray[np.uint8]) -> npt.NDArray[np.int8]:
    return (array.astype(np.int16) - _MIDDLE).astype(np.int8)


def _attributes(node: NodeProto) -> dict[str, Any]:
    return {each.name: helper.get_attribute_value(each) for each in node.attribute}
