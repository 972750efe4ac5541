"""The English that comes with pocketsphinx."""

from pathlib import Path

import pytest

from engine.asr.sphinx.english import write_dictionary, write_known
from engine.errors import ModelError


def written(tmp_path: Path, *words: str) -> list[str]:
    file = tmp_path / "some.dict"
    write_dictionary(words, file)
    return file.read_text(encoding="ascii").split("\n")[:-1]


@pytest.mark.parametrize(
    ("words", "entries"),
    [
        (("stop", "a"), ["a AH", "a(2) EY", "stop S T AA P"]),
        (("nanometres",), ["nanometres N AE N OW M IY T ER Z"]),  # the dictionary lacks it
        (("'", "stop"), ["stop S T AA P"]),
    ],
)
def test_a_word_has_all_its_pronunciations_and_no_other_word_is_there(tmp_path, words, entries):
    assert written(tmp_path, *words) == entries


def test_the_words_of_the_trigram_model_have_all_their_pronunciations(tmp_path):
    file = tmp_path / "english.dict"
    write_known(file)
    entries = file.read_text(encoding="utf-8").splitlines()
    assert {"a AH", "a(2) EY", "zydeco Z AY D AH K OW"} <= set(entries)
    assert 70_000 < len(entries) < 90_000
    words = {entry.split()[0].partition("(")[0] for entry in entries}
    assert "aaberg" not in words  # in the dictionary, not in the model


def test_a_missing_dictionary_is_a_model_error(monkeypatch, tmp_path):
    import pocketsphinx

    monkeypatch.setattr(pocketsphinx, "get_model_path", lambda name: str(tmp_path / "none"))
    with pytest.raises(ModelError, match="does not load") as raised:
        write_dictionary(["stop"], tmp_path / "some.dict")
    assert "install Rubato again" in raised.value.hint
