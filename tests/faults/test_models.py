"""Models that are missing or half there: told, and what needs no download stands in."""

from dataclasses import replace
from pathlib import Path

import pytest

from engine.api import Part, Ready, Settings
from engine.errors import LanguageModelError
from engine.messages.words import Ending
from engine.runtime.factories import standard_factories
from engine.settings import LanguageModelSettings, RecogniserSettings, SpeechSettings
from tests.fakes import FakeLanguageModel
from tests.faults.whole import Devices, Whole, whole


def half_a_whisper(folder: Path) -> Path:
    """As a fetch that was broken off leaves it."""
    model = folder / "whisper"
    model.mkdir()
    (model / "config.json").write_text("{}")
    (model / "model.bin").write_bytes(b"\x06\x00\x00\x00half")
    return model


def half_a_gguf(folder: Path) -> Path:
    model = folder / "model.gguf"
    model.write_bytes(b"GGUF\x03\x00\x00\x00\x10\x00")
    return model


def running(engine: Whole, part: Part) -> str:
    return next(event.name for event in reversed(engine.of(Ready)) if event.part is part)


@pytest.mark.slow
@pytest.mark.parametrize("there", ["nothing", "half"])
def test_without_the_whisper_model_sphinx_listens(there: str, tmp_path: Path) -> None:
    model = half_a_whisper(tmp_path) if there == "half" else tmp_path / "none"
    settings = Settings(recogniser=RecogniserSettings(engine="whisper", model=str(model)))
    factories = standard_factories()
    factories = replace(Devices().in_place_of(factories), recogniser=factories.recogniser)
    with whole(settings, factories=factories) as engine:
        (failed,) = engine.failed(Part.RECOGNISER)
        assert failed.message.endswith(".")
        assert failed.hint
        assert running(engine, Part.RECOGNISER) == "sphinx"
        assert engine.works()


@pytest.mark.parametrize("there", ["nothing", "half"])
def test_without_the_language_model_the_skills_answer(there: str, tmp_path: Path) -> None:
    pytest.importorskip("llama_cpp")
    model = half_a_gguf(tmp_path) if there == "half" else tmp_path / "none.gguf"
    settings = Settings(language_model=LanguageModelSettings(engine="llama", model=str(model)))
    with whole(settings) as engine:
        (failed,) = engine.failed(Part.LANGUAGE_MODEL)
        assert model.name in failed.message
        assert failed.hint
        assert running(engine, Part.LANGUAGE_MODEL) == "skills"
        assert engine.works()


@pytest.mark.slow
def test_without_its_files_the_neural_voice_leaves_speaking_to_the_formant_voice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RUBATO_DATA", str(tmp_path))
    settings = Settings(speech=SpeechSettings(engine="voxtream2"))
    with whole(settings) as engine:
        (failed,) = engine.failed(Part.SYNTHESISER)
        assert failed.hint
        assert running(engine, Part.SYNTHESISER) == "espeak"
        assert engine.works()


def test_a_language_model_that_fails_before_its_first_word_fails_its_turn() -> None:
    fault = LanguageModelError("The server is down.", hint="Start it.")
    factories = Devices().in_place_of(standard_factories())
    factories = replace(
        factories, language_model=lambda settings, progress: FakeLanguageModel(fault)
    )
    with whole(factories=factories) as engine:
        endings = {engine.ask(f"question {number}").ending for number in range(30)}
    assert endings == {Ending.FAILED}
