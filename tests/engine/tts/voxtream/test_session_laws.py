"""The laws every synthesiser obeys, on the small model (random weights cannot follow a rate), made
ready as the program makes it: frames as plain calls, and as replays of one graph.
"""

from collections.abc import Callable

import pytest

from engine.tts.base import TtsModel
from engine.tts.voxtream.synthesiser import VoxtreamSynthesiser
from tests.engine.tts import laws
from tests.engine.tts.voxtream.small_model import in_place, small


@pytest.fixture(scope="module", params=[small, in_place], ids=["plain", "graph"])
def warmed(request: pytest.FixtureRequest) -> VoxtreamSynthesiser:
    model: VoxtreamSynthesiser = request.param()
    model.warm(model.voices()[0])
    return model


@pytest.mark.parametrize("law", laws.LAWS, ids=lambda law: law.__name__)
def test_a_session_obeys(
    law: Callable[[TtsModel], None], warmed: VoxtreamSynthesiser, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse_to_sleep(seconds: float) -> None:
        raise AssertionError("a step must never sleep")

    monkeypatch.setattr("time.sleep", refuse_to_sleep)
    law(warmed)
