"""From the setting's name to a recogniser."""

from dataclasses import replace
from pathlib import Path

import pytest

from engine.asr.registry import NAMES, load
from engine.errors import InvalidInput, ModelError
from engine.settings import RecogniserSettings
from tests.fresh_python import prints

SETTINGS = RecogniserSettings()


@pytest.fixture(autouse=True)
def _nothing_fetched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RUBATO_DATA", str(tmp_path))


@pytest.mark.parametrize("engine", ["auto", "whisper"])
def test_the_default_needs_no_download_and_whisper_loads_the_chosen_folder(whisper_folder, engine):
    model = str(whisper_folder) if engine == "whisper" else ""
    recogniser = load(replace(SETTINGS, engine=engine, model=model), ["stop"])
    assert recogniser.info.name == ("sphinx" if engine == "auto" else "whisper")
    recogniser.close()


def test_an_unknown_name_lists_the_known_ones_and_another_language_the_way_to_it():
    with pytest.raises(InvalidInput, match="no recogniser called 'siri'") as raised:
        load(replace(SETTINGS, engine="siri"), [])
    assert all(name in raised.value.hint for name in NAMES)
    with pytest.raises(ModelError, match="English only, not 'de'") as refused:
        load(replace(SETTINGS, language="de"), [])
    assert "whisper" in refused.value.hint


def test_only_the_chosen_engine_is_imported():
    script = (
        "import sys; from engine.asr.registry import load;"
        "from engine.settings import RecogniserSettings;"
        "load(RecogniserSettings(), ['stop']);"
        "print(sorted({'faster_whisper', 'ctranslate2', 'torch'} & set(sys.modules)))"
    )
    assert prints(script) == "[]"
