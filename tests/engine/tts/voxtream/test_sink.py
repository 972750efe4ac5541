"""A window that turns over in slices equals one rebuilt at once, and a plain one before that."""

import torch
from torch import Tensor

from engine.nn.cache import KvCache
from engine.nn.transformer import RotaryTable
from engine.tts.voxtream.config import FULL, GENERATION
from engine.tts.voxtream.files.checkpoint import RandomWeights, load_weights
from engine.tts.voxtream.network.model import VoxtreamModel
from engine.tts.voxtream.sink import SLICE, TemporalMemory, causal_mask
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


def test_no_step_prepares_more_than_a_slice() -> None:
    weights = model()
    columns = torch.randn(2, PROMPT + 120, 64, generator=torch.Generator().manual_seed(0))
    lengths: list[int] = []
    advance = weights.advance
    weights.advance = lambda columns, *rest: (  # type: ignore[method-assign]
        lengths.append(columns.shape[1]) or advance(columns, *rest)  # type: ignore[func-returns-value]
    )
    table = RotaryTable(SMALL.temporal.head_width, CPU)
    memory = TemporalMemory(weights, table, prefilled(weights, columns[:, :PROMPT]), WINDOW)
    lengths.clear()
    for at in range(PROMPT, columns.shape[1]):
        memory.start(columns[:, at])
        memory.finish()
    assert max(lengths) <= SLICE
