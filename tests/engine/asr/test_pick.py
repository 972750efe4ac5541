"""What 'auto' is: Whisper base where it was fetched and is quick enough."""

import json
from pathlib import Path

import pytest

from app.command.models import EARS
from engine.asr.pick import ASSET, FILE, SLOWEST_MS, find_pick, judge, keep, resolve
from engine.assets.catalogue import find
from engine.errors import SettingsError
from engine.settings import RecogniserSettings
from installer import steps

AUTO = RecogniserSettings()


@pytest.fixture(autouse=True)
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("RUBATO_DATA", str(tmp_path))
    return tmp_path


def fetched(data: Path) -> Path:
    """A folder that the store takes for complete: sizes and pins are right, the content is not."""
    folder = data / "models" / ASSET
    folder.mkdir(parents=True)
    pins = {}
    for file in find(ASSET).files:
        with (folder / file.path).open("wb") as stream:
            stream.truncate(file.size)
        pins[file.path] = {"sha256": file.sha256, "size": file.size, "revision": "x"}
    (folder / "pins.json").write_text(json.dumps(pins))
    return folder


def test_the_default_is_auto_and_needs_no_download():
    assert AUTO.engine == "auto"
    assert resolve(AUTO).engine == "sphinx"


def test_what_was_fetched_is_used_until_it_is_measured(data: Path):
    folder = fetched(data)
    assert (resolve(AUTO).engine, resolve(AUTO).model) == ("whisper", str(folder))


@pytest.mark.parametrize(
    ("final_ms", "engine"), [(SLOWEST_MS, "whisper"), (SLOWEST_MS + 1, "sphinx")]
)
def test_the_measurement_decides(final_ms: float, engine: str, data: Path):
    fetched(data)
    keep(judge(final_ms), data)
    assert resolve(AUTO).engine == engine


def test_a_language_that_the_built_in_one_lacks_is_heard_by_slow_ears(data: Path):
    fetched(data)
    keep(judge(5000.0), data)
    assert resolve(RecogniserSettings(language="de")).engine == "whisper"


def test_half_a_download_is_not_used(data: Path):
    (fetched(data) / "tokenizer.json").unlink()
    assert resolve(AUTO).engine == "sphinx"


def test_whisper_without_a_folder_is_the_fetched_one(data: Path):
    folder = fetched(data)
    assert resolve(RecogniserSettings("whisper")).model == str(folder)
    assert resolve(RecogniserSettings("whisper", model="/mine")).model == "/mine"


def test_sphinx_stays_sphinx(data: Path):
    fetched(data)
    assert resolve(RecogniserSettings("sphinx")).engine == "sphinx"


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"recogniser": "siri", "reason": ""}'])
def test_a_file_that_is_no_pick_counts_as_none(content: str, data: Path):
    (data / FILE).write_text(content)
    assert find_pick(data) is None


def test_a_pick_that_cannot_be_kept_says_so(data: Path):
    (data / "file").write_text("")
    with pytest.raises(SettingsError, match="recogniser cannot be saved") as refusal:
        keep(judge(1.0), data / "file")
    assert "recogniser.engine" in refusal.value.hint


def test_whoever_fetches_it_means_the_same():
    assert EARS == ASSET == steps.EARS
