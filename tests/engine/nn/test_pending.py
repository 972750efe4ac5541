"""Results to come: computed beside the caller or in wait(), the same either way."""

import numpy as np
import pytest
import torch

from engine.nn.packed.product_graph import ProductGraph
from engine.nn.packed.quantise import INT8_BLOCK, Precision
from engine.nn.pending import Pending, beside

X = np.ones((1, INT8_BLOCK), dtype=np.float32)


def session():
    graph = ProductGraph()
    graph.product("x", "y", torch.ones(3, INT8_BLOCK), Precision.INT8)
    return graph.compile({"x": [1, INT8_BLOCK]}, {"y": [1, 3]}, threads=2)


def test_a_run_beside_the_caller_gives_what_a_plain_run_gives() -> None:
    graph = session()
    (expected,) = graph.run(None, {"x": X})
    pending = beside(graph, ["y"], {"x": X})
    assert np.array_equal(pending.wait()[0], expected)


def test_a_fault_beside_the_caller_is_raised_where_it_is_waited_for() -> None:
    pending = beside(session(), ["y"], {"x": np.ones((1, INT8_BLOCK + 1), dtype=np.float32)})
    pending.settle()
    with pytest.raises(RuntimeError, match="x"):
        pending.wait()


def test_what_is_postponed_is_made_by_who_waits_and_not_when_given_up() -> None:
    made: list[int] = []
    pending = Pending(lambda: made.append(1) or 20).then(lambda number: number + 1)
    pending.settle()
    assert made == []
    assert pending.wait() == 21
    assert made == [1]
