"""A window that turns over in batches equals one rebuilt at once, and a plain one before that."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from engine.nn.cache import KvCache
from engine.nn.pending import Pending
from engine.nn.transformer import RotaryTable
from engine.tts.voxtream import sink
from engine.tts.voxtream.config import FULL, GENERATION
from engine.tts.voxtream.files.checkpoint import RandomWeights, load_weights
from engine.tts.voxtream.network.model import VoxtreamModel
from engine.tts.voxtream.sink import LEADS, TemporalMemory, causal_mask
from tests.engine.tts.voxtream.small_model import CPU, SMALL, TARGET

PROMPT, WINDOW = 10, 64
KEPT = 32


def model() -> VoxtreamModel:
    return load_weights(RandomWeights(SMALL, 4), SMALL, GENERATION, FULL, TARGET)


def prefilled(model: VoxtreamModel, columns: Tensor) -> KvCache:
    cache = KvCache(SMALL.temporal, 2, CPU, torch.float32)
    length = columns.shape[1]
    rotation = RotaryTable(SMALL.temporal.head_width, CPU).slice(0, length)
    model.advance(columns, rotation, cache, causal_mask(0, length, CPU))
    cache.advance(length)
    return cache


def plain(model: VoxtreamModel, columns: Tensor) -> Tensor:
    """Hidden state of the last column when all are computed at once."""
    length = columns.shape[1]
    cache = KvCache(SMALL.temporal, 2, CPU, torch.float32)
    rotation = RotaryTable(SMALL.temporal.head_width, CPU).slice(0, length)
    return model.advance(columns, rotation, cache, causal_mask(0, length, CPU))


def test_every_step_equals_its_window_computed_at_once() -> None:
    weights = model()
    columns = torch.randn(2, PROMPT + 150, 64, generator=torch.Generator().manual_seed(0))
    prompt = columns[:, :PROMPT]
    table = RotaryTable(SMALL.temporal.head_width, CPU)
    memory = TemporalMemory(weights, table, prefilled(weights, prompt), WINDOW)
    seen = [columns[:, at] for at in range(PROMPT)]
    turned = 0
    for at in range(PROMPT, columns.shape[1]):
        if len(seen) == WINDOW:
            seen = seen[:PROMPT] + seen[-KEPT:]
            turned += 1
        seen.append(columns[:, at])
        memory.start(columns[:, at])
        hidden = memory.finish()
        torch.testing.assert_close(
            hidden, plain(weights, torch.stack(seen, 1)), rtol=1e-4, atol=1e-5
        )
        assert memory.length == len(seen)
    assert turned == 5


def test_the_frame_loop_itself_computes_one_column_of_the_next_window(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    turns, between = 3, WINDOW - PROMPT - KEPT
    frames = WINDOW - PROMPT + (turns - 1) * between
    weights, columns = model(), torch.randn(2, PROMPT + frames + 1, 64)
    computed: list[int] = []
    beside: list[int] = []
    advance = weights.advance

    def counted(columns: Tensor, *rest: Any) -> Tensor:
        computed.append(columns.shape[1])
        return advance(columns, *rest)

    def at_once(work: Callable[[], None]) -> Pending[None]:
        before = len(computed)
        work()
        beside.extend(computed[before:])
        del computed[before:]
        return Pending(lambda: None)

    monkeypatch.setattr(sink, "on_a_thread", at_once)
    table = RotaryTable(SMALL.temporal.head_width, CPU)
    memory = TemporalMemory(weights, table, prefilled(weights, columns[:, :PROMPT]), WINDOW)
    weights.advance = counted  # type: ignore[method-assign]
    for at in range(PROMPT, PROMPT + frames):
        memory.start(columns[:, at])
        memory.finish()
    assert computed == [1] * (frames + turns - 1)
    assert sum(beside) == turns * (KEPT - 1)
    assert len(beside) <= turns * len(LEADS)


def test_an_utterance_that_is_given_up_is_no_longer_computed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    late: list[Any] = []  # what the thread still does once the utterance is given up

    def delayed(work: Callable[[], None]) -> Pending[None]:
        return Pending(work, lambda: late.append(work()))

    monkeypatch.setattr(sink, "on_a_thread", delayed)
    weights = model()
    columns = torch.randn(2, WINDOW, 64, generator=torch.Generator().manual_seed(0))
    table = RotaryTable(SMALL.temporal.head_width, CPU)
    memory = TemporalMemory(weights, table, prefilled(weights, columns[:, :PROMPT]), WINDOW)
    for at in range(PROMPT, WINDOW - max(lead for lead in LEADS if lead < KEPT)):
        memory.start(columns[:, at])
        memory.finish()
    weights.advance = None  # type: ignore[method-assign,assignment]
    memory.settle()
    assert len(late) == 1
