"""How many utterances are spoken at once, by what was measured."""

import pytest

from engine.errors import SettingsError
from engine.tts.speeds import FILE, keep, places


@pytest.mark.parametrize(
    ("rtf", "expected"), [(0.7, 1), (0.36, 1), (0.35, 2), (0.09, 7), (0.01, 8), (1.9, 1)]
)
def test_it_speaks_as_often_at_once_as_it_keeps_up(tmp_path, rtf, expected):
    keep({"kokoro": rtf}, tmp_path)
    assert places("kokoro", tmp_path) == expected


def test_a_later_measurement_replaces_its_own_and_leaves_the_others(tmp_path):
    keep({"kokoro": 0.6, "starter": 0.09}, tmp_path)
    keep({"kokoro": 0.3}, tmp_path)
    assert (places("kokoro", tmp_path), places("starter", tmp_path)) == (2, 7)
    (tmp_path / "file").touch()
    with pytest.raises(SettingsError, match=r"serve\.places"):
        keep({"kokoro": 0.3}, tmp_path / "file")


@pytest.mark.parametrize("content", [None, "{", '{"rtfs": 3}', '{"rtfs": [["x", "y"]]}'])
def test_without_a_measurement_two_are_spoken_at_once(tmp_path, content):
    if content is not None:
        (tmp_path / FILE).write_text(content, encoding="utf-8")
    assert places("kokoro", tmp_path) == 2
