"""A bound graph computes in place."""

import numpy as np
import torch

from engine.nn.packed.product_graph import Bound, ProductGraph


def test_it_reads_what_the_inputs_hold_when_it_is_run() -> None:
    graph = ProductGraph()
    graph.add("Mul", ["x", graph.constant("twice", np.array(2, dtype=np.float32))], ["y"])
    session = graph.compile({"x": [3]}, {"y": [3]}, threads=1)
    x, y = torch.ones(3), torch.zeros(3)
    doubled = Bound(session, {"x": x}, {"y": y})
    doubled.run()
    assert y.tolist() == [2, 2, 2]
    x[1] = 5
    doubled.run()
    assert y.tolist() == [2, 10, 2]
