"""Reader of the published graph of Kokoro-82M (int8 ONNX): its parts, and its weights by name.

Convolutions of integers become matrix products, which onnxruntime computes twice as fast.
ConvInteger takes unsigned weights, for which there is no fast product. Here the weights are signed
if the processor adds signed products exactly. Kokoro's speech then takes two thirds of the time (a
convolution: 150 against 190 to 380 GOPS). Invariant: sums of integers are exact, so a part computes
the same values as the published graph (cutting.py uses fewer levels where signed products would
saturate).
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import onnx
import onnxruntime
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper

from engine.tts.kokoro.parts import sums_exactly

_MIDDLE: Final = 128  # of bytes without a sign
_LARGEST: Final = 127  # of bytes with a sign
_PROBED: Final = 64  # products that are added up
_LAST: Final = np.iinfo(np.int64).max
_TIME: Final = 1  # axis, once the channels come last

Array = npt.NDArray[Any]

DURATIONS: Final = "/encoder/predictor/ReduceSum_output_0"  # before they are rounded
FRAMES: Final = "/encoder/Round_output_0"
STATES: Final = "/encoder/predictor/text_encoder/Concat_4_output_0"
FEATURES: Final = "/encoder/MatMul_1_output_0"  # [1, 512, T]
PITCH: Final = "/encoder/Reshape_output_0"  # [1, 2 T], Hz
ENERGY: Final = "/encoder/Reshape_1_output_0"  # [1, 2 T]


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


@dataclass(frozen=True)
class Convolution:
    """A convolution of bytes. `weight` [out, in, taps] times `scale` is the real weight."""

    weight: npt.NDArray[np.int8]
    scale: float
    bias: npt.NDArray[np.float32] | None
    dilation: int
    stride: int
    pads: tuple[int, int]
    entry: str  # the tensor that it is over, before that is rounded to bytes


class Published:
    """The graph in a published file."""

    def __init__(self, file: Path) -> None:
        """Read the file of 92 MB, which takes about a second. For another file, onnx raises its own
        errors, or a later call raises KeyError.
        """
        self._model = onnx.load(str(file))
        graph = self._model.graph
        self._constants = {constant.name: constant for constant in graph.initializer}
        self._makers = {name: node for node in graph.node for name in node.output}

    def constant(self, name: str) -> Array:
        """Return a weight by its name. KeyError."""
        return np.asarray(numpy_helper.to_array(self._constants[name]))

    def find(self, tensor: str) -> NodeProto | None:
        """Return the node that makes a tensor; None if there is none."""
        return self._makers.get(tensor)

    def convolution(self, path: str) -> Convolution:
        """Return the convolution that makes the tensor `path`_output_0. KeyError."""
        node, bias = self._makers[f"{path}_output_0"], None
        while node.op_type != "ConvInteger":
            if node.op_type == "Add":
                divided = self._makers[node.input[1]]
                while divided.op_type != "Div":
                    divided = self._makers[divided.input[0]]
                bias = self.constant(divided.input[0])
            node = self._makers[node.input[0]]
        entry, weight, _, zero = node.input
        known = {each.name: helper.get_attribute_value(each) for each in node.attribute}
        centred = self.constant(weight).astype(np.int16) - self.constant(zero).astype(np.int16)
        if np.abs(centred).max() > np.iinfo(np.int8).max:
            raise ValueError(f"the weight of {path} does not fit a byte with a sign")
        return Convolution(
            centred.astype(np.int8),
            float(self.constant(weight.replace("_quantized", "_scale"))),
            bias,
            known["dilations"][0],
            known["strides"][0],
            (known["pads"][0], known["pads"][1]),
            self._makers[entry].input[0],
        )

    def part(self, inputs: Sequence[str], outputs: Sequence[str]) -> ModelProto:
        """Return the part of the graph from the tensors `inputs` to the tensors `outputs`."""
        graph, todo = self._model.graph, list(outputs)
        seen, needed = set(inputs), set()
        while todo:
            name = todo.pop()
            if name in seen:
                continue
            seen.add(name)
            if name in self._makers:
                needed.add(self._makers[name].name)
                todo += self._makers[name].input
        own_nodes = [node for node in graph.node if node.name in needed]
        nodes, constants = with_products(own_nodes, graph.initializer)
        return made(
            nodes,
            [self._value(name) for name in inputs],
            [self._value(name) for name in outputs],
            constants,
        )

    def _value(self, name: str) -> Any:
        graph = self._model.graph
        known = {value.name: value for value in (*graph.input, *graph.output)}
        return known.get(name) or helper.make_tensor_value_info(name, TensorProto.FLOAT, None)


def made(
    nodes: Sequence[NodeProto],
    inputs: Sequence[Any],
    outputs: Sequence[Any],
    constants: Sequence[TensorProto],
) -> ModelProto:
    """Return a model of these nodes, for the ONNX versions that onnxruntime 1.31 reads."""
    graph = helper.make_graph(nodes, "kokoro", inputs, outputs, constants)
    sets = [helper.make_opsetid("", 20), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=sets, ir_version=9)
