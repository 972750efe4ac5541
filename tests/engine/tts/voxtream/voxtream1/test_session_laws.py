"""The laws of a system, on the small model."""

from collections.abc import Callable

import pytest

from engine.tts.base import TtsModel
from engine.tts.voxtream.voxtream1.synthesiser import VoxtreamSynthesiser
from tests.engine.tts import laws
from tests.engine.tts.voxtream.voxtream1.small_voxtream1 import small


@pytest.fixture(scope="module")
def warmed() -> VoxtreamSynthesiser:
    model = small()
    model.warm(model.voices()[0])
    return model


@pytest.mark.usefixtures("no_sleep")
@pytest.mark.parametrize("law", laws.LAWS_OF_A_SYSTEM, ids=lambda law: law.__name__)
def test_a_session_obeys(warmed: VoxtreamSynthesiser, law: Callable[[TtsModel], None]) -> None:
    law(warmed)
