"""A clip ends by itself for a reason that is given once."""

import numpy as np

from engine.audio.clips import recording
from engine.audio.clips.recording import Take
from engine.errors import DeviceError

SECOND = np.full(16_000, 0.5, np.float32)


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
