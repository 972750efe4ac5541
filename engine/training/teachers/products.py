"""Convolutions of integers as products of matrices, which onnxruntime computes twice as fast.

ConvInteger takes weights without a sign, for which there is no fast product; here they have one.
Kokoro's speech takes two thirds of the time (a convolution: 150 against 190 to 380 GOPS).
Invariant: sums of integers are exact, so the samples stay the same.
"""

from collections.abc import Iterable, Iterator
from typing import Any, Final

import numpy as np
from onnx import NodeProto, TensorProto, helper, numpy_helper

_MIDDLE: Final = 128  # of bytes without a sign
_LAST: Final = np.iinfo(np.int64).max
_TIME: Final = 1  # axis, once the channels come last


def with_products(
    nodes: Iterable[NodeProto], constants: Iterable[TensorProto]
) -> tuple[list[NodeProto], list[TensorProto]]:
    """The same graph with every ConvInteger replaced that is over one axis and leaves its length
    as it is; without the constants that no node reads.
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
    """Nodes and constants that stand for a convolution, named after what it makes."""

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
        signed = array.transpose(2, 1, 0).reshape(-1, len(array)).astype(np.int16) - _MIDDLE
        zero = numpy_helper.to_array(weights[weight_zero]).astype(np.int16) - _MIDDLE
        product = self._add(
            "MatMulInteger", "product", columns, self._constant("weight", signed.astype(np.int8)),
            x_zero, self._constant("zero", zero.astype(np.int8)),
        )  # fmt: skip
        self.nodes.append(helper.make_node("Transpose", [product], [self._name], perm=[0, 2, 1]))

    def _pieces(self, rows: str, count: int, dilation: int) -> Iterator[str]:
        """What the kernel's weights meet: the same rows, each further on."""
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


def _attributes(node: NodeProto) -> dict[str, Any]:
    return {each.name: helper.get_attribute_value(each) for each in node.attribute}
