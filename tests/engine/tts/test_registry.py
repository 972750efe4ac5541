"""Names become synthesisers."""

import pytest

from engine.errors import ModelError
from engine.settings import SpeechSettings
from engine.tts import registry


def test_an_unknown_name_lists_those_there_are() -> None:
    with pytest.raises(ModelError) as failure:
        registry.load(SpeechSettings(engine="gramophone"), lambda text, fraction: None)
    assert "gramophone" in failure.value.message
    assert "espeak" in failure.value.hint


def test_loading_tells_what_it_does() -> None:
    told: list[str] = []
    model = registry.load(SpeechSettings(engine="espeak"), lambda text, fraction: told.append(text))
    model.close()
    assert told
