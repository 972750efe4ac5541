"""Names become synthesisers, and nothing is imported before it is asked for."""

import subprocess
import sys

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


def test_importing_the_registry_imports_neither_torch_nor_espeak() -> None:
    code = (
        "import sys, engine.tts.registry;"
        "print([m for m in ('torch', 'espeakng_loader') if m in sys.modules])"
    )
    run = [sys.executable, "-c", code]
    result = subprocess.run(run, capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"
