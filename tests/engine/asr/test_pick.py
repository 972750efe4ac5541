"""What 'auto' is: the best Whisper that was fetched and is quick enough."""

from dataclasses import replace
from pathlib import Path

import pytest

from app.command.models import EARS
from engine.asr.pick import (
    ASSET,
    BUILT_IN,
    NAMES,
    SLOWEST_MS,
    TINY,
    choose,
    judge,
    keep,
    load,
    resolve,
    why,
)
from engine.errors import InvalidInput, ModelError
from engine.settings import RecogniserSettings
from installer import steps
from tests.engine.assets.fetched import fetched
from tests.help.process.fresh_python import prints

AUTO = RecogniserSettings()


@pytest.fixture(autouse=True)
def data(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("RUBATO_DATA", str(tmp_path))
    return tmp_path


def test_what_was_fetched_whole_is_used_until_it_is_measured_and_for_its_languages(data):
    assert AUTO.engine == "auto"
    assert resolve(AUTO).engine == "sphinx"
    folder = fetched(data, ASSET)
    assert (resolve(AUTO).engine, resolve(AUTO).model) == ("whisper", str(folder))
    assert resolve(RecogniserSettings("whisper")).model == str(folder)
    assert resolve(RecogniserSettings("whisper", model="/mine")).model == "/mine"
    (folder / "tokenizer.json").unlink()
    assert resolve(AUTO).engine == "sphinx"
    fetched(data, ASSET)
    keep(judge(5000.0), data)
    assert resolve(RecogniserSettings(language="de")).engine == "whisper"


@pytest.mark.parametrize(
    ("base_ms", "tiny_ms", "there", "recogniser"),
    [
        (5000.0, 900.0, (ASSET, TINY), TINY),
        (5000.0, 2500.0, (ASSET, TINY), BUILT_IN),
        (1900.0, 900.0, (ASSET, TINY), ASSET),
        (5000.0, None, (ASSET, TINY), TINY),  # not measured yet
        (5000.0, None, (ASSET,), BUILT_IN),
        (None, 900.0, (ASSET, TINY), ASSET),
        (None, 900.0, (TINY,), TINY),
        (SLOWEST_MS, None, (ASSET,), ASSET),
        (SLOWEST_MS + 1, None, (ASSET,), BUILT_IN),
        (5000.0, 900.0, (), BUILT_IN),
    ],
)
def test_a_machine_too_slow_for_base_hears_with_tiny(base_ms, tiny_ms, there, recogniser, data):
    keep(judge(base_ms, tiny_ms), data)
    for name in there:
        fetched(data, name)
    assert choose(AUTO).recogniser == recogniser
    folder = "" if recogniser == BUILT_IN else str(data / "models" / recogniser)
    assert resolve(AUTO).model == folder


def test_the_reason_says_what_was_measured_of_each_or_is_missing(data):
    assert "rubato models get whisper-base" in why(AUTO)
    fetched(data, ASSET)
    assert "rubato bench" in why(AUTO)
    keep(judge(2440.0, 900.0), data)
    assert why(AUTO) == (
        "Whisper base has the text 2.4 s after the end of a sentence, more than 2.0 s. "
        "Whisper tiny has the text 0.9 s after the end of a sentence."
    )
    assert why(RecogniserSettings("sphinx")) == ""
    # whoever fetches it means the same
    assert EARS == ASSET == steps.EARS


@pytest.mark.parametrize("engine", ["auto", "whisper"])
def test_the_default_needs_no_download_and_whisper_loads_the_chosen_folder(whisper_folder, engine):
    model = str(whisper_folder) if engine == "whisper" else ""
    recogniser = load(replace(AUTO, engine=engine, model=model), ["stop"])
    assert recogniser.info.name == ("sphinx" if engine == "auto" else "whisper")
    recogniser.close()


def test_an_unknown_name_lists_the_known_ones_and_another_language_the_way_to_it():
    with pytest.raises(InvalidInput, match="no recogniser called 'siri'") as raised:
        load(replace(AUTO, engine="siri"), [])
    assert all(name in raised.value.hint for name in NAMES)
    with pytest.raises(ModelError, match="English only, not 'de'") as refused:
        load(replace(AUTO, language="de"), [])
    assert "whisper" in refused.value.hint


def test_only_the_chosen_engine_is_imported():
    script = (
        "import sys; from engine.asr.pick import load;"
        "from engine.settings import RecogniserSettings;"
        "load(RecogniserSettings(), ['stop']);"
        "print(sorted({'faster_whisper', 'ctranslate2', 'torch'} & set(sys.modules)))"
    )
    assert prints(script) == "[]"
