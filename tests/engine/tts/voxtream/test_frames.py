"""Frames from buffers that stay in place equal frames from plain calls."""

import numpy as np
import pytest
import torch

from engine.tts.base import Voice
from engine.tts.voxtream.synthesiser import VoxtreamSynthesiser, random_voice
from tests.engine.tts.voxtream.small_model import SMALL, small, speak

WORDS = ["One", "buffer", "for", "every", "number,", "and", "nothing", "moves."]


@pytest.fixture(scope="module")
def in_place() -> VoxtreamSynthesiser:
    plain = small()
    return VoxtreamSynthesiser(
        plain._machine, plain._speaker, plain.voices(), plain.info.name, graphs=True
    )


def samples(
    synthesiser: VoxtreamSynthesiser, voice: Voice, seed: int, repeats: int = 1
) -> np.ndarray:
    with synthesiser.open(voice, seed=seed) as session:
        session.rate = 2.0  # slow: the window of 96 columns turns over
        return np.concatenate([frame.pcm for frame in speak(session, WORDS * repeats)])


def test_an_utterance_sounds_the_same(
    in_place: VoxtreamSynthesiser, synthesiser: VoxtreamSynthesiser, voice: Voice
) -> None:
    expected = samples(synthesiser, voice, 3, repeats=5)
    assert len(expected) > 1920 * SMALL.audio_window
    np.testing.assert_allclose(samples(in_place, voice, 3, repeats=5), expected, atol=1e-5)


def test_buffers_serve_the_next_utterance_as_if_new(
    in_place: VoxtreamSynthesiser, voice: Voice
) -> None:
    other = random_voice(SMALL, seed=9, frames=14)
    first = samples(in_place, voice, 3)
    samples(in_place, other, 4)
    assert np.array_equal(samples(in_place, voice, 3), first)
    assert len(in_place._idle) == 1


def test_a_second_session_gets_buffers_of_its_own(
    in_place: VoxtreamSynthesiser, voice: Voice
) -> None:
    with in_place.open(voice, seed=1) as one, in_place.open(voice, seed=1) as two:
        both = (speak(one, WORDS[:3]), speak(two, WORDS[:3]))
    assert all(np.array_equal(a.pcm, b.pcm) for a, b in zip(*both, strict=True))
    assert len(in_place._idle) == 2


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
def test_on_cuda_an_utterance_is_captured_and_repeats() -> None:
    from engine.tts.voxtream.checkpoint import Target
    from engine.tts.voxtream.config import FULL
    from engine.tts.voxtream.synthesiser import load_random

    target = Target(torch.device("cuda"), torch.bfloat16, threads=1)
    model = load_random(1, profile=FULL, target=target)
    said = [samples(model, model.voices()[0], 3) for _ in range(2)]
    assert np.array_equal(said[0], said[1])
