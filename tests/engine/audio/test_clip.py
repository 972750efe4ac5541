"""Audio files, as people drop them: every format, and every way to be useless."""

import os
import struct
import tracemalloc
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
import pytest
import soundfile

from engine.audio.base import Pcm
from engine.audio.clip import inspect, read_clip
from engine.audio.pcm import level_db
from engine.errors import UnreadableClip
from tests.engine.audio.laws import sine

RATE = 24_000


def _speech(seconds: float = 4.0, level: float = 0.3, noise: float = 0.0005) -> Pcm:
    """Syllables: bursts of a tone with pauses, over noise."""
    time_s = np.arange(int(RATE * seconds)) / RATE
    bursts = (time_s % 0.4 < 0.25) * np.sin(2 * np.pi * 220 * time_s) * level
    hiss = np.random.default_rng(5).normal(0, noise, len(time_s))
    return (bursts + hiss).astype(np.float32)


def _encode(path: Path, pcm: Pcm, codec: str) -> None:
    """What soundfile cannot write."""
    with av.open(path, "w") as container:
        stream = container.add_stream(codec, rate=RATE, layout="mono")
        frame = av.AudioFrame.from_ndarray(pcm[np.newaxis], format="fltp", layout="mono")
        frame.sample_rate, frame.time_base = RATE, Fraction(1, RATE)
        resampler = av.AudioResampler(stream.format.name, "mono", stream.rate)
        for part in [*resampler.resample(frame), *resampler.resample(None), None]:
            container.mux(stream.encode(part))


@pytest.mark.parametrize("subtype", ["PCM_U8", "PCM_16", "PCM_24", "PCM_32", "FLOAT", "DOUBLE"])
def test_wav_of_every_width_is_read(subtype: str, tmp_path: Path) -> None:
    soundfile.write(tmp_path / "a.wav", sine(RATE, 0.5), RATE, subtype=subtype)
    clip = read_clip(tmp_path / "a.wav", max_seconds=10)
    assert clip.sample_rate == RATE
    assert not clip.cut_short
    np.testing.assert_allclose(clip.pcm, sine(RATE, 0.5), atol=0.01)


@pytest.mark.parametrize(
    ("name", "subtype"),
    [
        ("a.flac", "PCM_16"),
        ("a.ogg", "VORBIS"),
        ("a.opus", "OPUS"),
        ("a.mp3", "MPEG_LAYER_III"),
        ("a.aiff", "PCM_16"),
        ("a.au", "PCM_16"),
    ],
)
def test_other_formats_are_read(name: str, subtype: str, tmp_path: Path) -> None:
    kind = "OGG" if name == "a.opus" else None
    soundfile.write(tmp_path / name, sine(RATE, 1.0), RATE, subtype=subtype, format=kind)
    clip = read_clip(tmp_path / name, max_seconds=10)
    assert clip.seconds == pytest.approx(1.0, abs=0.1)
    assert level_db(clip.pcm) == pytest.approx(-9.0, abs=0.5)


@pytest.mark.parametrize(
    ("name", "codec"), [("a.m4a", "aac"), ("a.mp4", "aac"), ("a.webm", "libopus")]
)
def test_formats_of_telephones_and_browsers_are_read(name: str, codec: str, tmp_path: Path) -> None:
    _encode(tmp_path / name, sine(RATE, 1.0), codec)
    clip = read_clip(tmp_path / name, max_seconds=10)
    assert clip.seconds == pytest.approx(1.0, abs=0.1)
    assert level_db(clip.pcm) == pytest.approx(-9.0, abs=0.5)


def test_channels_are_mixed_to_one(tmp_path: Path) -> None:
    stereo = np.stack([sine(RATE, 0.5), np.zeros(RATE // 2, np.float32)], axis=1)
    soundfile.write(tmp_path / "a.wav", stereo, RATE, subtype="FLOAT")
    pcm = read_clip(tmp_path / "a.wav", max_seconds=10).pcm
    np.testing.assert_allclose(pcm, sine(RATE, 0.5) / 2, atol=1e-6)


@pytest.mark.parametrize("seconds", [0.5, 1.0, 60.0])
def test_no_more_is_read_than_asked(seconds: float, tmp_path: Path) -> None:
    soundfile.write(tmp_path / "a.wav", sine(RATE, 1.0), RATE)
    clip = read_clip(tmp_path / "a.wav", max_seconds=seconds)
    assert clip.seconds == min(seconds, 1.0)
    assert clip.cut_short == (seconds < 1.0)


def test_a_two_hour_file_is_neither_loaded_nor_taken_for_a_voice(tmp_path: Path) -> None:
    path = tmp_path / "podcast.wav"
    with soundfile.SoundFile(path, "w", 16_000, 1, "PCM_16") as file:
        file.write(np.full(16_000, 0.25))
    with path.open("r+b") as raw:  # a hole on the disk: two hours in no time and no space
        size = 2 * 3600 * 32_000 + 44
        raw.truncate(size)
        raw.seek(4)
        raw.write(struct.pack("<I", size - 8))
        raw.seek(40)
        raw.write(struct.pack("<I", size - 44))
    tracemalloc.start()
    report = inspect(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert report.seconds == pytest.approx(7200)
    assert not report.usable
    assert "120 minutes" in report.advice
    assert peak < 64 << 20


def _nothing(path: Path) -> None: ...


def _no_samples(path: Path) -> None:
    soundfile.write(path, np.zeros(0, np.float32), RATE)


def _noise_bytes(path: Path) -> None:
    path.write_bytes(np.random.default_rng(2).bytes(50_000))


def _text(path: Path) -> None:
    path.write_text("To be, or not to be, that is the question.\n" * 100)


def _play_list(path: Path) -> None:
    other = path.with_name("secret.wav")
    soundfile.write(other, sine(RATE, 1.0), RATE)
    path.write_text(f"#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\n{other}\n#EXT-X-ENDLIST\n")


def _values(value: float) -> Callable[[Path], None]:
    def write(path: Path) -> None:
        pcm = sine(RATE, 1.0)
        pcm[1000] = value
        soundfile.write(path, pcm, RATE, subtype="FLOAT")

    return write


def _only_a_header(path: Path) -> None:
    soundfile.write(path, sine(RATE, 1.0), RATE)
    path.write_bytes(path.read_bytes()[:44])


def _film_without_sound(path: Path) -> None:
    with av.open(path, "w", format="mp4") as container:
        stream = container.add_stream("mpeg4", rate=10, width=32, height=32, pix_fmt="yuv420p")
        picture = av.VideoFrame.from_ndarray(np.zeros((32, 32, 3), np.uint8), format="rgb24")
        container.mux(stream.encode(picture))
        container.mux(stream.encode(None))


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (_nothing, "cannot be opened"),
        (Path.mkdir, "is a folder"),
        (Path.touch, "is empty"),
        (os.mkfifo, "not a file of samples"),
        (_no_samples, "contains no sound"),
        (_only_a_header, "contains no sound"),
        (_noise_bytes, "is not sound"),
        (_text, "is not sound"),
        (_play_list, "is not sound"),
        (_values(np.nan), "not sound \\(NaN"),
        (_values(np.inf), "not sound \\(NaN"),
        (_film_without_sound, "no sound track"),
    ],
)
def test_a_file_that_cannot_be_used_says_why(
    make: Callable[[Path], object], said: str, tmp_path: Path
) -> None:
    path = tmp_path / "clip.wav"
    make(path)
    for use in (inspect, lambda path: read_clip(path, max_seconds=10)):
        with pytest.raises(UnreadableClip, match=said) as caught:
            use(path)
        assert caught.value.hint
        assert "clip.wav" in caught.value.message


def test_a_header_that_claims_four_gigabytes_reads_what_is_there(tmp_path: Path) -> None:
    soundfile.write(tmp_path / "a.wav", sine(RATE, 0.5), RATE)
    raw = bytearray((tmp_path / "a.wav").read_bytes())
    raw[40:44] = struct.pack("<I", 0xFFFFFFF0)
    (tmp_path / "a.wav").write_bytes(raw)
    assert read_clip(tmp_path / "a.wav", max_seconds=10).seconds == pytest.approx(0.5, abs=0.01)


@pytest.mark.parametrize(("field", "value"), [(22, "<H"), (24, "<I")])
def test_a_header_that_claims_the_impossible_is_refused(
    field: int, value: str, tmp_path: Path
) -> None:
    soundfile.write(tmp_path / "a.wav", sine(RATE, 0.5), RATE)
    raw = bytearray((tmp_path / "a.wav").read_bytes())
    raw[field : field + struct.calcsize(value)] = struct.pack(value, 999 if value == "<H" else 7)
    (tmp_path / "a.wav").write_bytes(raw)
    with pytest.raises(UnreadableClip):
        read_clip(tmp_path / "a.wav", max_seconds=10)


@pytest.mark.parametrize("name", ["a.m4a", "a.flac", "a.mp3", "a.wav"])
def test_damage_never_raises_anything_but_a_fault_with_a_hint(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    if name == "a.m4a":
        _encode(path, _speech(1.0), "aac")
    else:
        soundfile.write(path, _speech(1.0), RATE)
    whole = path.read_bytes()
    random = np.random.default_rng(11)
    for _ in range(25):
        broken = bytearray(whole[: random.integers(1, len(whole) + 1)])
        for place in random.integers(0, len(broken), 20):
            broken[place] = random.integers(256)
        path.write_bytes(broken)
        try:
            assert np.isfinite(read_clip(path, max_seconds=5).pcm).all()
        except UnreadableClip as fault:
            assert fault.hint  # noqa: PT017  either outcome is right


def _write(path: Path, pcm: Pcm, subtype: str = "PCM_16") -> Path:
    soundfile.write(path, pcm, RATE, subtype=subtype)
    return path


def test_a_clean_recording_is_usable_and_needs_no_advice(tmp_path: Path) -> None:
    report = inspect(_write(tmp_path / "a.wav", _speech()))
    assert report.usable
    assert report.advice == ""
    assert report.seconds == pytest.approx(4.0)
    assert report.level_db == pytest.approx(-15.5, abs=1)
    assert report.noise_db == pytest.approx(-66, abs=1)
    assert report.clipped == 0


@pytest.mark.parametrize(
    ("pcm", "subtype", "advice"),
    [
        (_speech(0.8), "PCM_16", "only 0.8 s"),
        (np.zeros(3 * RATE, np.float32), "PCM_16", "silent"),
        (_speech(), "PCM_U8", "8 bits"),
        (_speech(level=0.0, noise=0.1), "PCM_16", "No speech stands out"),
    ],
)
def test_a_useless_recording_says_what_to_do(
    pcm: Pcm, subtype: str, advice: str, tmp_path: Path
) -> None:
    report = inspect(_write(tmp_path / "a.wav", pcm, subtype))
    assert not report.usable
    assert advice in report.advice


@pytest.mark.parametrize(
    ("pcm", "advice"),
    [
        (_speech(1.5), "short"),
        (_speech(noise=0.03), "noisy"),
        (np.clip(_speech(level=2.0), -1, 1), "distorted"),
    ],
)
def test_a_poor_recording_is_usable_with_advice(pcm: Pcm, advice: str, tmp_path: Path) -> None:
    report = inspect(_write(tmp_path / "a.wav", pcm, "PCM_24"))
    assert report.usable
    assert advice in report.advice
