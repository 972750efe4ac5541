"""Reader of the published graph of Kokoro-82M (int8 ONNX): its parts, and its weights by name.

Invariant: a part computes the same values as the published graph, only faster (products.py).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import onnx
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper

from engine.tts.kokoro.graph.products import with_products

Array = npt.NDArray[Any]

DURATIONS: Final = "/encoder/predictor/ReduceSum_output_0"  # before they are rounded
FRAMES: Final = "/encoder/Round_output_0"
STATES: Final = "/encoder/predictor/text_encoder/Concat_4_output_0"
FEATURES: Final = "/encoder/MatMul_1_output_0"  # [1, 512, T]
PITCH: Final = "/encoder/Reshape_output_0"  # [1, 2 T], Hz
ENERGY: Final = "/encoder/Reshape_1_output_0"  # [1, 2 T]


@dataclass(frozen=True)
class Convolution:
    """A convolution of bytes. The int8 `weight` [out, in, taps] times `scale` is the
    real weight.
    """

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
                bias = self.constant(self._ancestor(node.input[1], "Div").input[0])
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

    def _ancestor(self, tensor: str, kind: str) -> NodeProto:
        node = self._makers[tensor]
        while node.op_type != kind:
            node = self._makers[node.input[0]]
        return node

    def _value(self, name: str) -> Any:
        graph = self._model.graph
        known = {value.name: value for value in (*graph.input, *graph.output)}
        return known.get(name) or helper.make_tensor_value_info(name, self._kind(name), None)

    def _kind(self, name: str) -> int:
        return int(TensorProto.UINT8 if name.endswith("_zero_point") else TensorProto.FLOAT)


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
