"""A file of what a person said: theirs alone, and never somebody else's file."""

import os
import stat
import wave
from pathlib import Path

import numpy as np
import pytest

from engine.audio.clips.wave_file import WaveFile
from engine.errors import DeviceError

PCM = np.full(800, 0.5, np.float32)


@pytest.fixture
def lenient_umask() -> "object":
    before = os.umask(0o000)
    yield
    os.umask(before)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.skipif(os.name == "nt", reason="Windows has other rights")
@pytest.mark.usefixtures("lenient_umask")
def test_only_its_owner_may_read_it_while_it_grows_and_after(tmp_path: Path) -> None:
    file = WaveFile(tmp_path / "talk.wav", 8_000)
    file.append(PCM)
    assert mode(file.partial) == 0o600
    file.close()
    assert mode(tmp_path / "talk.wav") == 0o600


def test_a_link_planted_under_the_name_it_used_to_have_is_not_followed(tmp_path: Path) -> None:
    mine = tmp_path / "letter.txt"
    mine.write_text("Dear Anna")
    (tmp_path / f".talk.wav.{os.getpid()}.part").symlink_to(mine)
    file = WaveFile(tmp_path / "talk.wav", 8_000)
    file.append(PCM)
    file.close()
    assert mine.read_text() == "Dear Anna"
    assert not (tmp_path / "talk.wav").is_symlink()


def test_no_two_have_one_temporary_name_and_each_is_a_whole_file_at_any_time(
    tmp_path: Path,
) -> None:
    files = [WaveFile(tmp_path / "talk.wav", 8_000) for _ in range(20)]
    assert len({file.partial for file in files}) == 20
    for file in files:
        file.append(PCM)
        with wave.open(str(file.partial)) as written:
            assert written.getnframes() == 800
        file.close()
    assert [entry.name for entry in tmp_path.iterdir()] == ["talk.wav"]


def test_a_link_under_its_own_name_is_replaced_not_followed(tmp_path: Path) -> None:
    mine = tmp_path / "letter.txt"
    mine.write_text("Dear Anna")
    (tmp_path / "talk.wav").symlink_to(mine)
    file = WaveFile(tmp_path / "talk.wav", 8_000)
    file.append(PCM)
    file.close()
    assert mine.read_text() == "Dear Anna"


def test_a_folder_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(DeviceError, match="could not be created"):
        WaveFile(tmp_path / "missing" / "talk.wav", 8_000)
