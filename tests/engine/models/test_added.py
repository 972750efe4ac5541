"""Files of the person's own are remembered where they lie."""

import stat

import pytest

from engine.errors import InvalidInput, SettingsError
from engine.models.added import FILE, MOST, Added, add, added, forget
from tests.engine.models.own_files import gguf, whisper


def test_a_gguf_file_is_remembered_once_and_stays_also_when_forgotten(data, tmp_path):
    file = gguf(tmp_path / "mine.gguf")
    before = file.read_bytes()
    for _ in range(2):
        assert add(file, data) == (Added(str(file), "language model"),)
        assert added(data) == (Added(str(file), "language model"),)
    assert stat.S_IMODE((data / FILE).stat().st_mode) == 0o600
    forget(str(file), data)
    assert added(data) == ()
    assert file.read_bytes() == before


def test_a_whisper_folder_is_a_recogniser_and_of_others_every_gguf_file_is_added(data, tmp_path):
    folder = whisper(tmp_path / "my whisper")
    assert add(folder, data) == (Added(str(folder), "recogniser"),)
    files = [gguf(tmp_path / "all" / name) for name in ("a.gguf", "b.gguf")]
    assert [each.path for each in add(tmp_path / "all", data)] == [str(file) for file in files]


def test_what_is_no_model_is_refused_with_what_to_do(data, tmp_path):
    (tmp_path / "text").write_text("hello")
    (tmp_path / "empty folder").mkdir()
    (whisper(tmp_path / "half a whisper") / "model.bin").unlink()
    for what in ("missing", "text", "empty folder", "half a whisper"):
        with pytest.raises(InvalidInput) as caught:
            add(tmp_path / what, data)
        assert "GGUF" in caught.value.hint
        assert added(data) == ()


def test_the_list_is_bounded_and_a_damaged_one_counts_as_empty(data, tmp_path):
    data.mkdir()
    for text in ("", "{", "[1]", '{"a": 1}', '[{"path": "x"}]', "[" * 90_000):
        (data / FILE).write_text(text)
        assert added(data) == ()
    for number in range(MOST):
        add(gguf(tmp_path / f"{number}.gguf"), data)
    with pytest.raises(InvalidInput, match=str(MOST)):
        add(gguf(tmp_path / "more.gguf"), data)
    with pytest.raises(SettingsError, match="cannot be saved"):
        add(gguf(tmp_path / "more.gguf"), data / FILE)  # a file where the folder should be
