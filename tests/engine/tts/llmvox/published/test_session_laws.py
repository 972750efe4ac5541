"""The laws of every synthesiser, on the small model."""

from collections.abc import Callable

import pytest

from engine.tts.base import TtsModel
from engine.tts.llmvox.published.synthesiser import PublishedSynthesiser
from tests.engine.tts import laws
from tests.engine.tts.llmvox.published.small_model import small


@pytest.fixture(scope="module")
def model() -> PublishedSynthesiser:
    return small()


@pytest.mark.usefixtures("no_sleep")
@pytest.mark.parametrize("law", laws.LAWS, ids=lambda law: law.__name__)
def test_a_session_obeys(law: Callable[[TtsModel], None], model: PublishedSynthesiser) -> None:
    law(model)
