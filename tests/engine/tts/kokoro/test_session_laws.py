"""The laws every synthesiser obeys, on a made-up Kokoro.

The laws of speech do not apply, because random weights say no words; all others do.
"""

from collections.abc import Callable

import pytest

from engine.tts.base import TtsModel
from tests.engine.tts import laws
from tests.engine.tts.kokoro.small import small


@pytest.fixture(scope="module")
def model() -> TtsModel:
    return small()


@pytest.mark.usefixtures("no_sleep")
@pytest.mark.parametrize("law", laws.LAWS, ids=lambda law: law.__name__)
def test_a_session_obeys(law: Callable[[TtsModel], None], model: TtsModel) -> None:
    law(model)
