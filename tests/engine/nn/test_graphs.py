"""Capturing, on a graphics card that is only pretended."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import pytest
import torch
from torch import Tensor

from engine.nn.graphs import WARM_UP_CALLS, Graphed

CUDA = torch.device("cuda")


@dataclass(frozen=True)
class Stream:
    name: str

    def wait_stream(self, other: "Stream") -> None:
        """Nothing runs beside anything here."""


class Card:
    """torch.cuda as far as capturing goes: which stream is in use, how it was captured."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, fault: str = "") -> None:
        """`fault`: what capturing fails with, empty = nothing."""
        self.stream, self.modes, self.replays, self._fault = Stream("main"), list[str](), 0, fault
        monkeypatch.setattr(torch.cuda, "Stream", lambda: Stream("side"))
        monkeypatch.setattr(torch.cuda, "current_stream", lambda: self.stream)
        monkeypatch.setattr(torch.cuda, "stream", self._use)
        monkeypatch.setattr(torch.cuda, "CUDAGraph", lambda: self)
        monkeypatch.setattr(torch.cuda, "graph", self._capture)

    @contextmanager
    def _use(self, stream: Stream) -> Iterator[None]:
        before, self.stream = self.stream, stream
        try:
            yield
        finally:
            self.stream = before

    @contextmanager
    def _capture(self, graph: object, capture_error_mode: str = "global") -> Iterator[None]:
        before, self.stream = self.stream, Stream("captured")
        self.modes.append(capture_error_mode)
        yield
        if self._fault:
            raise RuntimeError(self._fault)  # as in torch, the stream stays the captured one
        self.stream = before

    def replay(self) -> None:
        self.replays += 1


def test_only_the_thread_that_captures_is_bound(monkeypatch):
    card, calls = Card(monkeypatch), list[str]()

    def function() -> Tensor:
        calls.append(card.stream.name)
        return torch.ones(1)

    graphed = Graphed(function, CUDA)
    assert calls == ["side"] * WARM_UP_CALLS + ["captured"]
    assert card.modes == ["thread_local"]
    assert torch.equal(graphed(), torch.ones(1))
    assert (card.replays, len(calls)) == (1, WARM_UP_CALLS + 1)


def test_a_capture_that_fails_leaves_the_stream_as_it_was(monkeypatch):
    card = Card(monkeypatch, "operation not permitted when stream is capturing")
    with pytest.raises(RuntimeError, match="not permitted"):
        Graphed(lambda: torch.ones(1), CUDA)
    assert card.stream == Stream("main")
