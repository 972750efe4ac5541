"""Files dropped on the window that are not what they seem, through the whole engine."""

import wave
from collections.abc import Callable, Iterator
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


def missing(path: Path) -> None:
    """Nothing is there."""


def empty(path: Path) -> None:
    path.touch()


def folder(path: Path) -> None:
    path.mkdir()


def letter(path: Path) -> None:
    path.write_text("Dear all,\n" * 1000)


def header_only(path: Path) -> None:
    path.write_bytes(b"RIFF\xff\xff\xff\xffWAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00")


def no_samples(path: Path) -> None:
    soundfile.write(path, np.zeros(0, np.float32), RATE, format="WAV")


def eight_bit(path: Path) -> None:
    soundfile.write(path, SPEECH, RATE, format="WAV", subtype="PCM_U8")


def not_a_number(path: Path) -> None:
    broken = SPEECH.copy()
    broken[100:200] = np.nan
    broken[300] = np.inf
    soundfile.write(path, broken, RATE, format="WAV", subtype="FLOAT")


def two_hours(path: Path) -> None:
    """Of silence, which takes no room on the disk."""
    with wave.open(str(path), "wb") as file:
        file.setparams((1, 2, RATE, 0, "NONE", ""))
        file.setnframes(2 * 3600 * RATE)
        file.writeframesraw(b"")
    size = path.stat().st_size + 2 * 3600 * RATE * 2
    header = bytearray(path.read_bytes())
    header[4:8], header[40:44] = (size - 8).to_bytes(4, "little"), (size - 44).to_bytes(4, "little")
    path.write_bytes(header)
    with path.open("r+b") as file:
        file.truncate(size)


REFUSED = (missing, empty, folder, letter, header_only, no_samples, not_a_number)
UNUSABLE = {eight_bit: "8 bits", two_hours: "120 minutes"}


@pytest.fixture(scope="module")
def engine() -> Iterator[Whole]:
    with whole() as running:
        yield running


@pytest.mark.parametrize("make", REFUSED, ids=lambda make: make.__name__)
def test_a_file_that_cannot_be_read_is_refused_in_a_sentence(
    make: Callable[[Path], None], engine: Whole, tmp_path: Path
) -> None:
    clip = tmp_path / "voice.wav"
    make(clip)
    before = len(engine.of(Failed))
    engine.engine.post(AddVoice(clip))
    engine.wait(lambda: len(engine.of(Failed)) > before or inspected(engine, clip))
    failed = engine.of(Failed)[-1]
    assert failed.code == "unreadable-clip"
    assert "voice.wav" in failed.message
    assert failed.message.endswith((".", ")."))
    assert failed.hint
    assert engine.works()


@pytest.mark.parametrize("make", UNUSABLE, ids=lambda make: make.__name__)
def test_a_file_that_cannot_be_a_voice_is_looked_at_and_told_why(
    make: Callable[[Path], None], engine: Whole, tmp_path: Path
) -> None:
    clip = tmp_path / "voice.wav"
    make(clip)
    engine.engine.post(AddVoice(clip))
    engine.wait(lambda: inspected(engine, clip))
    (found,) = inspected(engine, clip)
    assert not found.usable
    assert UNUSABLE[make] in found.advice
    assert engine.works()


def test_looking_at_a_file_can_be_cancelled_and_nothing_waits_behind_it(
    engine: Whole, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for_ever = tmp_path / "decoder.py"
    for_ever.write_text("import threading; threading.Event().wait()")
    clips = [tmp_path / "first.wav", tmp_path / "second.wav"]
    for clip in clips:
        soundfile.write(clip, SPEECH, RATE)
    with monkeypatch.context() as patch:
        patch.setattr("engine.audio.clips.decode.__file__", str(for_ever))
        # Or it would end in time, and the test pass by that.
        patch.setattr("engine.audio.clips.clip.LONGEST_S", 1e9)
        failed = len(engine.of(Failed))
        engine.engine.post(AddVoice(clips[0]))
        engine.engine.post(AddVoice(clips[1]))  # instead of the first
        engine.engine.post(Export(tmp_path / "talk.txt"))
        engine.engine.post(CancelClip())
        engine.wait((tmp_path / "talk.txt").exists)
    assert len(engine.of(Failed)) == failed
    assert not inspected(engine, clips[0])
    assert not inspected(engine, clips[1])
    assert engine.works()


def inspected(engine: Whole, clip: Path) -> list[ClipInspected]:
    return [event for event in engine.of(ClipInspected) if event.clip == clip]
