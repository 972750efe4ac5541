"""Voices reach another machine whole, and never in the place of another."""

from pathlib import Path

import numpy as np
import pytest

from engine.errors import ModelError
from engine.serve.voices import copies, keep
from engine.tts import voices
from engine.tts.base import Voice


@pytest.fixture
def here(tmp_path: Path) -> Path:
    folder = tmp_path / "here"
    folder.mkdir()
    voices.save(Voice("Ada", "fake", {"codes": np.arange(6, dtype=np.int16)}), folder)
    return folder


def test_a_machine_without_the_voice_gets_it_and_one_with_it_keeps_it(
    here: Path, tmp_path: Path
) -> None:
    there = tmp_path / "there"
    for _ in range(2):
        keep(copies(here), there)
    assert copies(there) == copies(here)
    (found,) = voices.saved_voices(there)
    assert found.name == "Ada"


def test_another_voice_of_that_name_is_left_alone_and_told(here: Path, tmp_path: Path) -> None:
    there = tmp_path / "there"
    there.mkdir()
    voices.save(Voice("Ada", "fake", {"codes": np.arange(7, dtype=np.int16)}), there)
    before = copies(there)
    with pytest.raises(ModelError, match="different voice"):
        keep(copies(here), there)
    assert copies(there) == before


def test_a_copy_stays_in_the_folder_of_the_voices(here: Path, tmp_path: Path) -> None:
    ((name, content),) = copies(here).items()
    there = tmp_path / "deep" / "there"
    keep({f"../{name}": content}, there)
    assert (there / name).exists()
    assert not (there.parent / name).exists()
