"""The decoder written anew says what the graph it was made of says."""

from dataclasses import replace

import numpy as np
import onnxruntime
import pytest
from onnx import NodeProto, TensorProto, helper, numpy_helper

from engine.tts.kokoro.graph import published
from engine.tts.kokoro.graph.published import signs_are_exact, with_products
from engine.tts.kokoro.parts import FRAME
from engine.tts.kokoro.plan import Plan
from engine.tts.kokoro.windows import render
from tests.engine.tts.kokoro.small import (
    TEXT,
    frames_apart,
    learnt,
    of_graph,
    phoned,
    plan_request,
    planned,
    scratch,
    small_parts,
    small_style,
    write_small,
)


@pytest.fixture(scope="module")
def plan() -> Plan:
    return planned(plan_request(phoned(TEXT)))


@pytest.fixture(scope="module")
def expected(plan) -> np.ndarray:
    file = scratch("whole") / "small.onnx"
    write_small(file)
    return of_graph(file, small_style(), plan, "audio")[0]


def test_the_sound_is_the_same_but_for_rounding(plan, expected):
    """With the statistics of the sentence itself. Its norms and bytes are then those of the graph,
    whose phase drifts, because it adds it up in float32.
    """
    made = render(small_parts(), learnt()[0], plan, 0, len(plan.features))
    assert made.shape == expected.shape
    apart = frames_apart(expected, made, FRAME)
    assert np.median(apart) < 0.04
    assert np.corrcoef(made, expected)[0, 1] > 0.98


def test_other_features_make_another_sound(plan, expected):
    """So the test above can fail, wherever the mistake is."""
    given = learnt()[0]
    for part in ("features", "curves", "turns"):
        other = replace(plan, **{part: np.roll(getattr(plan, part), 1, axis=0)})
        made = render(small_parts(), given, other, 0, len(plan.features))
        assert np.median(frames_apart(expected, made, FRAME)) > 0.05, part


# ------------------------------------------------------------------------ convolutions as products


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
    monkeypatch.setattr(published, "signs_are_exact", lambda: exact)
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
