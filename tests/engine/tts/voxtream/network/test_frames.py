"""Frames from buffers that stay in place equal frames from plain calls."""

import sys
from dataclasses import replace
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from engine.codec.mimi import FRAME_SAMPLES
from engine.nn.packed.product_graph import Precision
from engine.nn.sampling import guide
from engine.tts.base import Voice
from engine.tts.voxtream import synthesiser as synthesiser_file
from engine.tts.voxtream.config import GENERATION
from engine.tts.voxtream.files.checkpoint import load_weights
from engine.tts.voxtream.network.frames import GraphFrames
from engine.tts.voxtream.network.model import VoxtreamModel
from engine.tts.voxtream.synthesiser import VoxtreamSynthesiser
from tests.engine.tts.utterances import speak
from tests.engine.tts.voxtream.random_weights import RandomWeights
from tests.engine.tts.voxtream.small_model import SMALL, TARGET, small, small_mimi

WORDS = ["One", "buffer", "for", "every", "number,", "and", "nothing", "moves."]


def samples(model: VoxtreamSynthesiser, voice: Voice, seed: int, words=WORDS[:4]) -> np.ndarray:
    with model.open(voice, seed=seed) as session:
        session.rate = 2.0
        return np.concatenate([frame.pcm for frame in speak(session, words)])


def test_without_memory_for_a_graph_it_speaks_in_plain_steps_and_says_so(
    synthesiser, voice, monkeypatch
):
    model = small(graphs=True)
    monkeypatch.setattr(synthesiser_file, "GraphFrames", refuse)
    model.warm(voice)
    assert model.info.note.endswith("CUDA out of memory. Tried to allocate 2.00 GiB.")
    assert np.array_equal(samples(model, voice, 3), samples(synthesiser, voice, 3))


def test_a_graph_that_was_captured_serves_on_when_another_cannot_be(voice, monkeypatch):
    model = small(graphs=True)
    alone = samples(model, voice, 1)
    assert model.info.note == ""
    monkeypatch.setattr(synthesiser_file, "GraphFrames", refuse)
    with model.open(voice, seed=1), model.open(voice, seed=1):
        assert "out of memory" in model.info.note
        np.testing.assert_allclose(samples(model, voice, 1), alone, atol=1e-5)
    np.testing.assert_allclose(samples(model, voice, 1), alone, atol=1e-5)


def refuse(*arguments: object) -> None:
    raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB.\nTo debug ...")


def test_a_full_window_is_followed_by_another_passage_alike(voice):
    words = [word.strip(".") for word in WORDS] * 5
    expected = samples(small(), voice, 3, words)
    assert len(expected) > FRAME_SAMPLES * small()._of(voice).room
    found = samples(small(graphs=True), voice, 3, words)
    np.testing.assert_allclose(found, expected, atol=1e-5)


def test_nothing_that_is_captured_touches_the_host(monkeypatch):
    """On a device without data: reading a value there, or meeting a tensor of the host, raises."""
    # For operators there torch would load its compiler, seconds, only to switch it off.
    compiler = ModuleType("torch._dynamo")
    compiler.disable = lambda function, *_, **__: function  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "torch._dynamo", compiler)
    assert torch._meta_registrations.activate_meta, "what operators give there, see deferred.py"
    model, mimi, nowhere = small()._parts.model, small_mimi(), torch.device("meta")
    model.to(nowhere)
    mimi._model.to(nowhere)
    with torch.inference_mode():
        frames = GraphFrames(model, mimi, lambda done: None)
        frames._frame()  # the tables of angles are made on the host
        with _Devices() as met:
            out = frames._frame()
    assert out.shape == (FRAME_SAMPLES + 1,)
    assert met.types == {"meta"}


class _Devices(TorchDispatchMode):
    """Notes on which devices tensors are that operations read and give."""

    def __init__(self) -> None:
        super().__init__()
        self.types: set[str] = set()

    def __torch_dispatch__(
        self, operation: Any, types: Any, given: Any = (), named: Any = None
    ) -> Any:
        result = operation(*given, **(named or {}))
        for value in tree_leaves((given, named, result)):
            if isinstance(value, torch.Tensor):
                self.types.add(value.device.type)
        return result


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
def test_on_cuda_an_utterance_is_captured_and_repeats():
    from engine.tts.voxtream.files.checkpoint import Target
    from tests.engine.tts.voxtream.random_weights import load_random

    target = Target(torch.device("cuda"), torch.bfloat16, threads=1)
    model = load_random(1, precision=Precision.FLOAT, target=target)
    said = [samples(model, model.voices()[0], 3) for _ in range(2)]
    assert np.array_equal(said[0], said[1])


# ---------------------------------------------------------------------------------- acoustic steps


WIDE = replace(
    SMALL,
    temporal=replace(SMALL.temporal, width=256),
    depth=replace(SMALL.depth, width=256, hidden=256),
    phone=replace(SMALL.phone, width=256, hidden=256),
)


def wide_model(precision: Precision) -> VoxtreamModel:
    weights = RandomWeights(WIDE, 0)
    return load_weights(weights, WIDE, GENERATION, precision, TARGET)


def hidden(seed: int) -> torch.Tensor:
    return torch.randn(2, WIDE.width, generator=torch.Generator().manual_seed(seed))


@pytest.mark.parametrize(
    ("precision", "loss"), [(Precision.FLOAT, 0.0), (Precision.INT8, 0.05)], ids=["plain", "packed"]
)
def test_every_code_is_the_best_given_those_before(precision, loss):
    """By the logits of the plain model; packed products are off by some per cent."""
    made, plain = wide_model(precision), wide_model(Precision.FLOAT)
    memory, semantic = made.acoustic_memory(), torch.tensor([[5]])
    for seed in (1, 2):
        found = made.acoustic_codes(hidden(seed), semantic, memory)

        def follow(number: int, rows: torch.Tensor, found: torch.Tensor = found) -> torch.Tensor:
            code = found[:, number : number + 1]
            logits = guide(rows[0], rows[1], GENERATION.acoustic_guidance)
            assert logits.max() - logits[code] <= loss * logits.std()
            return code

        plain.acoustic_codes(hidden(seed), semantic, plain.acoustic_memory(), follow)
