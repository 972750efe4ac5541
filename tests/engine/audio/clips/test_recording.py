"""A recording survives a crash and a full disk, and a take of the microphone ends in time."""

import os
import stat
import wave

import numpy as np
import pytest

from engine.audio.clips import recording
from engine.audio.clips.recording import Take, WaveFile
from engine.errors import DeviceError

TENTH = np.full(800, 0.5, np.float32)

SECOND = np.full(16_000, 0.5, np.float32)


@pytest.mark.skipif(os.name == "nt", reason="Windows has other rights")
def test_only_its_owner_may_read_it_while_it_grows_and_after(tmp_path):
    before = os.umask(0o000)
    try:
        file = WaveFile(tmp_path / "talk.wav", 8_000)
        file.append(TENTH)
        modes = [stat.S_IMODE(file.partial.stat().st_mode)]
        file.close()
    finally:
        os.umask(before)
    modes.append(stat.S_IMODE((tmp_path / "talk.wav").stat().st_mode))
    assert modes == [0o600] * 2


def test_no_two_have_one_temporary_name_and_each_is_a_whole_file_at_any_time(tmp_path):
    files = [WaveFile(tmp_path / "talk.wav", 8_000) for _ in range(20)]
    assert len({file.partial for file in files}) == 20
    for file in files:
        file.append(TENTH)
        with wave.open(str(file.partial)) as written:
            assert written.getnframes() == 800
        file.close()
    assert [entry.name for entry in tmp_path.iterdir()] == ["talk.wav"]


@pytest.mark.parametrize("name", ["talk.wav", ".talk.wav.{pid}.part"])
def test_a_link_planted_under_its_name_is_replaced_not_followed(tmp_path, name):
    """The second is the temporary name it used to have."""
    mine = tmp_path / "letter.txt"
    mine.write_text("Dear Anna")
    (tmp_path / name.format(pid=os.getpid())).symlink_to(mine)
    file = WaveFile(tmp_path / "talk.wav", 8_000)
    file.append(TENTH)
    file.close()
    assert mine.read_text() == "Dear Anna"
    assert not (tmp_path / "talk.wav").is_symlink()


class Full:
    """A file that cannot be created."""

    def __init__(self, *_: object) -> None:
        raise DeviceError("No room.", hint="")


def test_a_file_that_cannot_be_made_ends_the_clip(tmp_path, monkeypatch):
    monkeypatch.setattr(recording, "WaveFile", Full)
    clip = Take(tmp_path)
    clip.add(SECOND, 16_000)
    clip.add(SECOND, 16_000)
    assert (clip.ended_by, clip.seconds, clip.close()) == ("No room.", 0.0, None)


def test_another_microphone_and_enough_seconds_end_the_clip(tmp_path):
    clip = Take(tmp_path)
    clip.add(SECOND, 16_000)
    clip.add(SECOND, 44_100)
    assert "Another microphone" in clip.ended_by
    assert clip.close() == tmp_path / recording.NAME
    clip = Take(tmp_path)
    for _ in range(40):
        clip.add(SECOND, 16_000)
    assert (clip.ended_by, clip.seconds) == ("30 seconds are enough.", 30.0)
    assert clip.close()
