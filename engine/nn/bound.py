"""A graph that reads and writes its tensors in place.

Passing arrays in and getting new ones back costs as much as a small graph itself. Binding them once
leaves a single call. Invariant: bound tensors live as long as the binding; only its owner runs it.
"""

from collections.abc import Mapping

import numpy as np
import onnxruntime
import torch
from torch import Tensor

_KINDS = {torch.float32: np.float32, torch.int64: np.int64, torch.int32: np.int32}


class Bound:
    """A session with its inputs and outputs: contiguous CPU tensors by name, fp32 or integers."""

    def __init__(
        self,
        session: onnxruntime.InferenceSession,
        inputs: Mapping[str, Tensor],
        outputs: Mapping[str, Tensor],
    ) -> None:
        self._session = session
        self._tensors = (dict(inputs), dict(outputs))
        self._binding = session.io_binding()
        for tensors, bind in zip(
            self._tensors, (self._binding.bind_input, self._binding.bind_output), strict=True
        ):
            for name, tensor in tensors.items():
                assert tensor.is_contiguous(), f"{name} does not lie in one piece"
                kind, shape = _KINDS[tensor.dtype], list(tensor.shape)
                bind(name, "cpu", 0, kind, shape, tensor.data_ptr())

    def run(self) -> None:
        """Compute the outputs from what the inputs hold now."""
        self._session.run_with_iobinding(self._binding)
