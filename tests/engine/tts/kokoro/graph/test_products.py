"""Convolutions as products: the same integers, in a graph that has no convolution left."""

import numpy as np
import onnxruntime
import pytest
from onnx import NodeProto, TensorProto, helper, numpy_helper

from engine.tts.kokoro.graph import products
from engine.tts.kokoro.graph.products import signs_are_exact, with_products


def _run(nodes: list[NodeProto], constants: list[TensorProto], x: np.ndarray) -> np.ndarray:
    graph = helper.make_graph(
        nodes,
        "graph",
        [
            helper.make_tensor_value_info("x", TensorProto.UINT8, [1, x.shape[1], None]),
            helper.make_tensor_value_info("zero", TensorProto.UINT8, []),
        ],
        [helper.make_tensor_value_info("y", TensorProto.INT32, None)],
        constants,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    y: np.ndarray = session.run(None, {"x": x, "zero": np.array(117, np.uint8)})[0]
    return y


@pytest.mark.parametrize("exact", [True, False])
@pytest.mark.parametrize(
    ("size", "attributes", "replaced"),
    [
        (7, {"dilations": [3], "pads": [9, 9]}, True),
        (1, {}, True),
        (3, {"pads": [1, 1], "strides": [2]}, False),
        (3, {"pads": [2, 0]}, False),
    ],
)
def test_sums_stay_the_same(size, attributes, replaced, exact, monkeypatch):
    """With weights of either kind, as far as this processor is exact with signed ones."""
    if exact and not signs_are_exact():
        pytest.skip("this processor adds signed products in 16 bits")
    monkeypatch.setattr(products, "signs_are_exact", lambda: exact)
    draw = np.random.default_rng(1)
    weight = draw.integers(0, 256, (5, 4, size)).astype(np.uint8)
    constants = [
        numpy_helper.from_array(weight, "weight"),
        numpy_helper.from_array(np.array(131, np.uint8), "weight zero"),
    ]
    inputs = ["x", "weight", "zero", "weight zero"]
    node = helper.make_node("ConvInteger", inputs, ["y"], kernel_shape=[size], **attributes)
    nodes, others = with_products([node], constants)
    assert ("ConvInteger" not in {each.op_type for each in nodes}) is replaced
    assert ({each.name for each in others} >= {"weight"}) is not replaced
    x = draw.integers(0, 256, (1, 4, 50)).astype(np.uint8)
    assert np.array_equal(_run(nodes, others, x), _run([node], constants, x))
