"""Audio files, as people drop them: every format, and every way to be useless."""

import io
import os
import struct
import subprocess
import sys
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import suppress
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import BinaryIO

import av
import numpy as np
import pytest
import soundfile

from engine import sandbox as sandboxed
from engine.audio.base import Pcm
from engine.audio.clips import clip as clip_file
from engine.audio.clips import decode
from engine.audio.clips.clip import inspect, read_clip
from engine.audio.pcm import level_db
from engine.errors import UnreadableClip
from tests.engine.audio.tone import sine

RATE = 24_000


def _speech(seconds: float = 4.0, level: float = 0.3, noise: float = 0.0005) -> Pcm:
    """Syllables: bursts of a tone with pauses, over noise."""
    time_s = np.arange(int(RATE * seconds)) / RATE
    bursts = (time_s % 0.4 < 0.25) * np.sin(2 * np.pi * 220 * time_s) * level
    hiss = np.random.default_rng(5).normal(0, noise, len(time_s))
    return (bursts + hiss).astype(np.float32)


def _encode(path: Path, pcm: Pcm, codec: str) -> None:
    """What soundfile cannot write; `pcm`: [S] or [S, 2]."""
    planes = np.ascontiguousarray(np.atleast_2d(pcm.T), np.float32)
    layout = "mono" if len(planes) == 1 else "stereo"
    with av.open(path, "w") as container:
        stream = container.add_stream(codec, rate=RATE, layout=layout)
        frame = av.AudioFrame.from_ndarray(planes, format="fltp", layout=layout)
        frame.sample_rate, frame.time_base = RATE, Fraction(1, RATE)
        resampler = av.AudioResampler(stream.format.name, layout, stream.rate)
        for part in [*resampler.resample(frame), *resampler.resample(None), None]:
            container.mux(stream.encode(part))


def _write(path: Path, pcm: Pcm, subtype: str | None = "PCM_16") -> Path:
    """`pcm`: [S] or [S, channels]."""
    soundfile.write(path, pcm, RATE, subtype=subtype)
    return path


@pytest.fixture
def child() -> None:
    """The decoder has a process of its own, as it has for people."""


@pytest.fixture(autouse=True)
def _decoded_here(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """It decodes in this process, where its own is not what is looked at: a fifth of the time."""

    def run(_: str, part: tuple[str, str], files: tuple[BinaryIO, BinaryIO], **__: object) -> int:
        try:
            decode.decode(files[0], float(part[0]), files[1], float(part[1]))
        except decode.FaultError as error:
            return error.fault
        return 0

    if "child" not in request.fixturenames:
        monkeypatch.setattr(clip_file.sandbox, "run", run)


@pytest.mark.parametrize("subtype", ["PCM_U8", "PCM_16", "PCM_24", "PCM_32", "FLOAT", "DOUBLE"])
def test_wav_of_every_width_is_read(subtype, tmp_path):
    clip = read_clip(_write(tmp_path / "a.wav", sine(RATE, 0.5), subtype), max_seconds=10)
    assert clip.sample_rate == RATE
    np.testing.assert_allclose(clip.pcm, sine(RATE, 0.5), atol=0.01)


@pytest.mark.parametrize(
    "name", ["a.flac", "a.ogg", "a.opus", "a.mp3", "a.aiff", "a.au", "a.m4a", "a.mp4", "a.webm"]
)
def test_other_formats_are_read(name, tmp_path):
    path, tone = tmp_path / name, sine(RATE, 1.0)
    if codec := {".m4a": "aac", ".mp4": "aac", ".webm": "libopus"}.get(path.suffix):
        _encode(path, tone, codec)
    elif path.suffix == ".opus":
        soundfile.write(path, tone, RATE, subtype="OPUS", format="OGG")
    else:
        soundfile.write(path, tone, RATE)
    clip = read_clip(path, max_seconds=10)
    assert clip.seconds == pytest.approx(1.0, abs=0.1)
    assert level_db(clip.pcm) == pytest.approx(-9.0, abs=0.5)


@pytest.mark.parametrize("seconds", [0.5, 1.0, 60.0])
def test_channels_are_mixed_to_one_and_no_more_is_read_than_asked(seconds, tmp_path):
    stereo = np.stack([sine(RATE, 1.0), np.zeros(RATE, np.float32)], axis=1)
    clip = read_clip(_write(tmp_path / "a.wav", stereo, "FLOAT"), max_seconds=seconds)
    assert clip.seconds == min(seconds, 1.0)
    np.testing.assert_allclose(clip.pcm, sine(RATE, clip.seconds) / 2, atol=1e-6)


@pytest.mark.usefixtures("child")
def test_a_two_hour_file_is_neither_loaded_nor_taken_for_a_voice(tmp_path):
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


def _play_list(path: Path) -> None:
    other = path.with_name("secret.wav")
    soundfile.write(other, sine(RATE, 1.0), RATE)
    path.write_text(f"#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\n{other}\n#EXT-X-ENDLIST\n")


def _with_a(value: float) -> Callable[[Path], Path]:
    return lambda path: _write(path, np.append(sine(RATE, 1.0), np.float32(value)), "FLOAT")


def _film_without_sound(path: Path) -> None:
    with av.open(path, "w", format="mp4") as container:
        stream = container.add_stream("mpeg4", rate=10, width=32, height=32, pix_fmt="yuv420p")
        picture = av.VideoFrame.from_ndarray(np.zeros((32, 32, 3), np.uint8), format="rgb24")
        container.mux(stream.encode(picture))
        container.mux(stream.encode(None))


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda path: None, "cannot be opened"),
        (Path.mkdir, "is a folder"),
        (Path.touch, "is empty"),
        (os.mkfifo, "not a regular file"),
        (lambda path: _write(path, np.zeros(0, np.float32)), "contains no sound"),
        (lambda path: os.truncate(_write(path, sine(RATE, 1.0)), 44), "contains no sound"),
        (lambda path: path.write_bytes(np.random.default_rng(2).bytes(50_000)), "is not sound"),
        (lambda path: path.write_text("To be, or not to be.\n" * 200), "is not sound"),
        (_play_list, "is not sound"),
        (_with_a(np.nan), "not sound \\(NaN"),
        (_with_a(np.inf), "not sound \\(NaN"),
        (_film_without_sound, "no sound track"),
    ],
)
def test_a_file_that_cannot_be_used_says_why(make, said, tmp_path):
    path = tmp_path / "clip.wav"
    make(path)
    with pytest.raises(UnreadableClip, match=said) as caught:
        inspect(path)
    assert caught.value.hint
    assert "clip.wav" in caught.value.message


def _damaged(whole: bytes) -> Iterator[bytes]:
    random = np.random.default_rng(11)
    for _ in range(25):
        broken = bytearray(whole[: random.integers(1, len(whole) + 1)])
        for place in random.integers(0, len(broken), 20):
            broken[place] = random.integers(256)
        yield bytes(broken)


def _with_another_header(whole: bytes) -> Iterator[bytes]:
    for value, place, width in product([0, 1, 0x7F, 0x80, 0xFF], range(44), (1, 2, 4)):
        yield whole[:place] + bytes([value] * width) + whole[place + width :]


@pytest.mark.parametrize(
    ("name", "breaks"),
    [
        *((name, _damaged) for name in ("a.m4a", "a.flac", "a.mp3", "a.wav")),
        ("a.wav", _with_another_header),
    ],
)
def test_damage_is_never_anything_but_a_fault(name, breaks, tmp_path):
    path = tmp_path / name
    if name == "a.m4a":
        _encode(path, _speech(0.5), "aac")
    else:
        soundfile.write(path, _speech(0.5), RATE)
    for broken in breaks(path.read_bytes()):
        out = io.BytesIO()
        with suppress(decode.FaultError):  # decoded in this process: quicker for many files
            decode.decode(io.BytesIO(broken), 5, out)
            samples = out.getvalue().partition(b"\n")[2]
            assert np.isfinite(np.frombuffer(samples, np.float32)).all()


@pytest.mark.usefixtures("child")
@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere names are text")
def test_a_name_that_is_no_text_is_read_and_can_be_told(tmp_path):
    path = tmp_path / os.fsdecode(b"\xff\xfe voice.wav")
    soundfile.write(os.fsencode(path), sine(RATE, 0.5), RATE, format="WAV")
    assert read_clip(path, max_seconds=5).seconds == 0.5
    path.write_bytes(b"no sound")
    with pytest.raises(UnreadableClip, match=r"voice\.wav' is not sound") as caught:
        read_clip(path, max_seconds=5)
    assert caught.value.message.encode("utf-8")


class _Counted(io.FileIO):
    taken = 0

    def read(self, size: int | None = -1, /) -> bytes:
        data = super().read(-1 if size is None else size)
        self.taken += len(data or b"")
        return data or b""


def _sparse_film(path: Path) -> None:
    """Matroska's header, a segment without a size, and a hole of 4 GB."""
    doctype = bytes.fromhex("4286810142f7810142f2810442f38108") + b"\x42\x82\x88matroska"
    head = b"\x1a\x45\xdf\xa3" + bytes([0x80 | len(doctype)]) + doctype
    path.write_bytes(head + b"\x18\x53\x80\x67\x01" + b"\xff" * 7)
    os.truncate(path, 4 << 30)


def _huge_tag(path: Path) -> None:
    """ID3 that claims 256 MB, before a real MP3 with a hole of 300 MB behind it."""
    soundfile.write(path, _speech(1.0), RATE, format="MP3")
    path.write_bytes(b"ID3\x04\x00\x00\x7f\x7f\x7f\x7f" + path.read_bytes())
    os.truncate(path, 300 << 20)


@pytest.mark.parametrize("make", [_sparse_film, _huge_tag])
def test_of_a_file_that_claims_much_little_is_read(make, tmp_path):
    make(tmp_path / "clip.bin")
    with _Counted(tmp_path / "clip.bin") as file, pytest.raises(decode.FaultError):
        decode.decode(file, 60, io.BytesIO())
    assert file.taken <= 2 * decode.OPENING_BYTES


@pytest.mark.usefixtures("child")
@pytest.mark.parametrize(
    ("program", "longest_s", "said"),
    [
        ("import os; os.abort()", 30.0, r"clip\.wav' is damaged"),
        ("import threading; threading.Event().wait()", 0.2, "takes too long"),
    ],
)
def test_a_decoder_that_dies_or_does_not_end_is_a_fault_of_the_file(
    program, longest_s, said, tmp_path, monkeypatch
):
    (tmp_path / "decoder.py").write_text(program)
    monkeypatch.setattr(decode, "__file__", str(tmp_path / "decoder.py"))
    monkeypatch.setattr(clip_file, "LONGEST_S", longest_s)
    with pytest.raises(UnreadableClip, match=said) as caught:
        inspect(_write(tmp_path / "clip.wav", sine(RATE, 0.5)))
    assert caught.value.hint


@pytest.mark.skipif(not sandboxed.limits_memory(), reason="this system limits no process's memory")
def test_the_decoder_cannot_take_more_memory_than_its_limit():
    greedy = f"import runpy; limit = runpy.run_path({sandboxed.__file__!r})['limit']; limit()\n"
    greedy += f"bytearray({sandboxed.MEMORY_BYTES})"
    done = subprocess.run(
        [sys.executable, "-I", "-c", greedy], capture_output=True, text=True, check=False
    )
    assert "MemoryError" in done.stderr


@pytest.mark.usefixtures("child")
def test_a_clean_recording_is_usable_and_needs_no_advice(tmp_path):
    report = inspect(_write(tmp_path / "a.wav", _speech()))
    assert report.usable
    assert report.advice == ""
    assert report.seconds == pytest.approx(4.0)
    assert report.level_db == pytest.approx(-15.5, abs=1)
    assert report.noise_db == pytest.approx(-66, abs=1)
    assert report.clipped == 0


@pytest.mark.parametrize(
    ("pcm", "subtype", "usable", "advice"),
    [
        (_speech(0.8), "PCM_16", False, "only 0.8 s"),
        (np.zeros(3 * RATE, np.float32), "PCM_16", False, "silent"),
        (_speech(), "PCM_U8", False, "8 bits"),
        (_speech(level=0.0, noise=0.1), "PCM_16", False, "No speech stands out"),
        (_speech(1.5), "PCM_24", True, "short"),
        (_speech(noise=0.03), "PCM_24", True, "noisy"),
        (np.clip(_speech(level=2.0), -1, 1), "PCM_24", True, "distorted"),
    ],
)
def test_a_useless_or_poor_recording_says_what_to_do(pcm, subtype, usable, advice, tmp_path):
    report = inspect(_write(tmp_path / "a.wav", pcm, subtype))
    assert report.usable is usable
    assert advice in report.advice


@pytest.mark.parametrize("name", ["a.wav", "a.m4a"])
def test_channels_that_cancel_each_other_give_the_better_one(name, tmp_path):
    """A microphone wired the wrong way round, or one of two that was not plugged in."""
    speech = _speech()
    for other in (-speech, -0.9 * speech, np.zeros_like(speech) - 0.5 * speech):
        both = np.column_stack((speech, other))
        if name == "a.wav":
            _write(tmp_path / name, both, "FLOAT")
        else:
            _encode(tmp_path / name, both, "aac")
        report = inspect(tmp_path / name)
        assert report.advice == ""
        assert report.level_db == pytest.approx(level_db(speech), abs=3.5)


@pytest.mark.parametrize("subtype", ["PCM_16", "PCM_24", "FLOAT"])
@pytest.mark.parametrize(("riff", "samples"), [(0, 0), (36, 0), (0xFFFFFFFF, 0), (36, 0xFFFFFFF0)])
def test_a_wav_that_was_written_to_a_pipe_is_read_to_its_end(subtype, riff, samples, tmp_path):
    path = _write(tmp_path / "a.wav", _speech(), subtype)
    content = bytearray(path.read_bytes())
    content[4:8] = struct.pack("<I", riff)
    at = content.index(b"data") + 4
    content[at : at + 4] = struct.pack("<I", samples)
    path.write_bytes(content)
    clip = read_clip(path, max_seconds=10)
    np.testing.assert_allclose(clip.pcm, _speech(), atol=1e-3)
    assert inspect(path).advice == ""


def test_a_flac_without_a_length_is_read_to_its_end(tmp_path):
    """As FFmpeg and our own server write it to a pipe."""
    path = _write(tmp_path / "a.flac", _speech())
    content = bytearray(path.read_bytes())
    content[21] &= 0xF0  # the lower 36 bits of eight bytes of STREAMINFO: the number of samples
    content[22:26] = bytes(4)
    path.write_bytes(content)
    np.testing.assert_allclose(read_clip(path, max_seconds=10).pcm, _speech(), atol=1e-3)
    assert inspect(path).advice == ""


@pytest.mark.parametrize("offset", [0.02, 0.3, -0.6])
def test_a_constant_offset_is_removed_before_anything_is_judged(offset, tmp_path):
    path = _write(tmp_path / "a.wav", _speech() + np.float32(offset))
    report = inspect(path)
    assert report.advice == ""
    assert report.level_db == pytest.approx(level_db(_speech()), abs=0.1)
    np.testing.assert_allclose(read_clip(path, max_seconds=10).pcm, _speech(), atol=0.01)


@pytest.mark.parametrize("loudness", [1.5, 10.0, 32_768.0])
def test_float_samples_beyond_full_scale_are_scaled(loudness, tmp_path):
    path = _write(tmp_path / "a.wav", _speech() / 0.3 * np.float32(loudness), "FLOAT")
    assert inspect(path).advice == ""
    pcm = read_clip(path, max_seconds=10).pcm
    assert np.abs(pcm).max() == pytest.approx(1.0)
    np.testing.assert_allclose(pcm, _speech() / np.abs(_speech()).max(), atol=1e-3)


@pytest.mark.parametrize("offset", [0.0, 0.2])
@pytest.mark.parametrize(("loudness", "subtype"), [(1, "PCM_16"), (1, "FLOAT"), (4, "FLOAT")])
def test_what_was_clipped_is_still_called_distorted(offset, loudness, subtype, tmp_path):
    clipped = np.clip(_speech(level=1.5) + np.float32(offset), -1, 1) * np.float32(loudness)
    path = _write(tmp_path / "a.wav", clipped, subtype)
    assert "distorted" in inspect(path).advice
