"""The laws every synthesiser obeys, on the small model (random weights cannot follow a rate)."""

from collections.abc import Callable

import pytest

from engine.tts.base import TtsModel
from engine.tts.voxtream.synthesiser import VoxtreamSynthesiser
from tests.engine.tts import laws


@pytest.mark.parametrize("law", laws.LAWS, ids=lambda law: law.__name__)
def test_a_session_obeys(
    law: Callable[[TtsModel], None],
    synthesiser: VoxtreamSynthesiser,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse_to_sleep(seconds: float) -> None:
        raise AssertionError("a step must never sleep")

    monkeypatch.setattr("time.sleep", refuse_to_sleep)
    law(synthesiser)
