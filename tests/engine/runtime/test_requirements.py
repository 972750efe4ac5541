"""How much memory a part will take, by its files."""

from pathlib import Path

import pytest

from engine.runtime.requirements import size_bytes
from engine.settings import LanguageModelSettings, PartSettings, RecogniserSettings, SpeechSettings


def test_a_model_file_is_as_big_as_it_is(tmp_path: Path) -> None:
    model = tmp_path / "a.gguf"
    model.write_bytes(bytes(1_000))
    assert size_bytes(LanguageModelSettings(engine="llama", model=str(model))) == 1_000


def test_a_folder_is_as_big_as_all_in_it(tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    (tmp_path / "model.bin").write_bytes(bytes(1_000))
    (tmp_path / "inner" / "vocabulary.json").write_bytes(bytes(10))
    assert size_bytes(RecogniserSettings(engine="whisper", model=str(tmp_path))) == 1_010


def test_a_fetched_voice_is_as_big_as_its_files_and_those_it_needs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RUBATO_DATA", str(tmp_path))
    voice = SpeechSettings(engine="voxtream2")
    assert size_bytes(voice) == 0
    for asset in ("voxtream2", "mimi"):
        (tmp_path / "models" / asset).mkdir(parents=True)
        (tmp_path / "models" / asset / "weights").write_bytes(bytes(500))
    assert size_bytes(voice) == 1_000


@pytest.mark.parametrize(
    "settings",
    [
        LanguageModelSettings(),
        LanguageModelSettings(engine="llama"),
        LanguageModelSettings(engine="llama", model="/nowhere/a.gguf"),
        LanguageModelSettings(engine="server", model="/etc"),
        RecogniserSettings(),
        RecogniserSettings(engine="whisper"),
        RecogniserSettings(model="/etc"),
        SpeechSettings(),
        SpeechSettings(engine="espeak"),
    ],
)
def test_what_comes_along_or_is_not_there_takes_nothing(settings: PartSettings) -> None:
    assert size_bytes(settings) == 0
