"""One launch for many kernels: a function of fixed tensors captured as a CUDA graph.

Invariant: calling a Graphed computes what calling the plain function computes. Off CUDA it *is* the
plain call, so the same code is tested without a GPU.
"""

from collections.abc import Callable

import torch
from torch import Tensor

WARM_UP_CALLS = 3  # cuBLAS and the allocator settle first; that must not be captured


class Graphed:
    """Repeats `function`, which must read and write only tensors that are not reallocated.

    The function has no arguments: its inputs are tensors in its closure, which the caller fills in
    place. Its result is overwritten by the next call. It must not synchronise with the host.
    RuntimeError if it cannot be captured or memory is short.
    """

    def __init__(self, function: Callable[[], tuple[Tensor, ...]], device: torch.device) -> None:
        self._function = function
        self._graph: torch.cuda.CUDAGraph | None = None
        self._result: tuple[Tensor, ...] = ()
        if device.type == "cuda":
            self._capture()

    def __call__(self) -> tuple[Tensor, ...]:
        if self._graph is None:
            return self._function()
        self._graph.replay()
        return self._result

    def _capture(self) -> None:
        """Warm up on a side stream, then record; the caller resets the tensors they wrote."""
        stream = torch.cuda.Stream()  # type: ignore[no-untyped-call]
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            for _ in range(WARM_UP_CALLS):
                self._function()
        torch.cuda.current_stream().wait_stream(stream)
        graph = torch.cuda.CUDAGraph()
        # Only this thread is restricted: others (language model, recogniser) may allocate
        # meanwhile. torch stays on its own stream when capturing fails; the outer stream() goes
        # back.
        with (
            torch.cuda.stream(torch.cuda.current_stream()),
            torch.cuda.graph(graph, capture_error_mode="thread_local"),
        ):
            self._result = self._function()
        self._graph = graph
