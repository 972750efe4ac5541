"""Files dropped on the window that are not what they seem, through the whole engine."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import soundfile

from engine.api import AddVoice, CancelClip, ClipInspected, Export, Failed
from tests.faults.whole import Whole, whole

RATE = 16_000
SPEECH = (0.2 * np.sin(np.arange(4 * RATE) / 11) * (np.arange(4 * RATE) % RATE < RATE // 2)).astype(
    np.float32
)


@pytest.fixture(scope="module")
def engine() -> Iterator[Whole]:
    with whole() as running:
        yield running


def test_looking_at_a_file_can_be_cancelled_and_nothing_waits_behind_it(
    engine, tmp_path, monkeypatch
):
    for_ever = tmp_path / "decoder.py"
    for_ever.write_text("import threading; threading.Event().wait()")
    clips = [tmp_path / "first.wav", tmp_path / "second.wav"]
    for clip in clips:
        soundfile.write(clip, SPEECH, RATE)
    with monkeypatch.context() as patch:
        patch.setattr("engine.audio.clips.decode.__file__", str(for_ever))
        # Or it would end in time, and the test pass by that.
        patch.setattr("engine.audio.clips.clip.LONGEST_S", 1e9)
        assert engine.works()  # so that there is a conversation to export
        failed = len(engine.of(Failed))
        engine.post(AddVoice(clips[0]))
        engine.post(AddVoice(clips[1]))  # instead of the first
        engine.post(Export(tmp_path / "talk.txt"))
        engine.post(CancelClip())
        engine.wait((tmp_path / "talk.txt").exists)
    assert len(engine.of(Failed)) == failed
    assert not inspected(engine, clips[0])
    assert not inspected(engine, clips[1])
    assert engine.works()


def inspected(engine: Whole, clip: Path) -> list[ClipInspected]:
    return [event for event in engine.of(ClipInspected) if event.clip == clip]
