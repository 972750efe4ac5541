"""The small model and a voice of it, loaded once."""

import pytest

from engine.tts.base import Voice
from engine.tts.voxtream.synthesiser import VoxtreamSynthesiser
from tests.engine.tts.voxtream.random_weights import random_voice
from tests.engine.tts.voxtream.small_model import SMALL, small


@pytest.fixture(scope="session")
def synthesiser() -> VoxtreamSynthesiser:
    return small()


@pytest.fixture(scope="session")
def voice() -> Voice:
    return random_voice(SMALL, seed=2, frames=20)
