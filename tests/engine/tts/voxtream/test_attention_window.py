"""A window that turns over in batches equals one rebuilt at once, and a plain one before that."""

from typing import Any

import pytest
import torch
from torch import Tensor

from engine.nn.cache import KvCache
from engine.nn.pending import Pending
from engine.nn.transformer import RotaryTable
from engine.tts.voxtream.attention_window import BATCH, TemporalMemory, causal_mask
from engine.tts.voxtream.config import FULL, GENERATION
from engine.tts.voxtream.files.checkpoint import RandomWeights, load_weights
from engine.tts.voxtream.network.model import VoxtreamModel
from tests.engine.tts.voxtream.small_model import CPU, SMALL, TARGET

PROMPT, WINDOW = 10, 64
KEPT = 32


def model() -> VoxtreamModel:
    return load_weights(RandomWeights(SMALL, 4), SMALL, GENERATION, FULL, TARGET)


def plain(model: VoxtreamModel, columns: Tensor, cache: KvCache | None = None) -> Tensor:
    length = columns.shape[1]
    cache = cache or KvCache(SMALL.temporal, 2, CPU, torch.float32)
    rotation = RotaryTable(SMALL.temporal.head_width, CPU).slice(0, length)
    return model.advance(columns, rotation, cache, causal_mask(0, length, CPU))


def prefilled(model: VoxtreamModel, columns: Tensor) -> KvCache:
    cache = KvCache(SMALL.temporal, 2, CPU, torch.float32)
    plain(model, columns, cache)
    cache.advance(columns.shape[1])
    return cache


def test_every_step_equals_its_window_computed_at_once():
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
        assert torch.allclose(hidden, plain(weights, torch.stack(seen, 1)), rtol=1e-4, atol=1e-5)
        assert memory.length == len(seen)
    assert turned == 5


class Delayed:
    """Instead of model.start: computes when it is waited for, as on a thread that needs so many
    questions to be done.
    """

    def __init__(self, model: VoxtreamModel, questions: int) -> None:
        self.batches: list[int] = []  # columns, of those that were waited for
        self.given_up = 0
        self._advance, self._questions = model.advance, questions

    def start(self, columns: Tensor, *rest: Any) -> Pending[Tensor]:
        asked = iter(range(self._questions))

        def wait() -> Tensor:
            self.batches.append(columns.shape[1])
            return self._advance(columns, *rest)

        def settle() -> None:
            self.given_up += 1

        return Pending(wait, settle, lambda: next(asked, None) is None)


def filled(frames: int, questions: int) -> tuple[TemporalMemory, Delayed]:
    """A memory of 240 columns behind a prompt of 40 and so many frames."""
    weights = model()
    columns = torch.randn(2, 40 + frames, 64, generator=torch.Generator().manual_seed(0))
    table = RotaryTable(SMALL.temporal.head_width, CPU)
    memory = TemporalMemory(weights, table, prefilled(weights, columns[:, :40]), 240)
    delayed = Delayed(weights, questions)
    weights.start = delayed.start  # type: ignore[method-assign]
    for column in columns[:, 40:].unbind(1):
        memory.start(column)
        memory.finish()
    return memory, delayed


@pytest.mark.parametrize("questions", [0, 3, 50])
def test_what_is_computed_together_does_not_depend_on_how_long_it_takes(questions):
    _, delayed = filled(3 * 80 + 120 + 1, questions)  # three turns of the window
    # Of 120 columns that survive a turn; the last one is computed by the frame that needs it.
    assert [size for size in delayed.batches if size > 1] == 3 * [BATCH, BATCH, BATCH, 18, 5]
    assert delayed.batches[-2:] == [1, 1]
