"""Recordings: of both sides in step with the clock, theirs alone, and rid of steady noise."""

import os
import stat
import wave
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
import soundfile

from engine.audio.base import Pcm, Played
from engine.audio.clips import denoise
from engine.audio.clips.clip import POOR_SNR_DB, Clip, snr_db
from engine.audio.clips.denoise import denoised, denoiser
from engine.audio.clips.recording import (
    LONGEST_S,
    SAMPLE_RATE,
    Recorded,
    Recording,
    join,
    longest_s,
)
from engine.audio.clips.wave_file import WaveFile
from engine.audio.echo import canceller as echo
from engine.audio.pcm import level_db
from engine.errors import InvalidInput
from engine.tts.base import AudioFrame
from engine.tts.espeak.model import EspeakModel
from tests.engine.audio.tone import sine

TICK = 0.05
MICROPHONE = 16_000
LOUDSPEAKER = 48_000
NOTHING: Pcm = np.zeros(0, np.float32)


class Tape:
    """A recording fed every TICK: speech at some times, a reply at others."""

    def __init__(self, path: Path, **options) -> None:
        self.recording = Recording(path, 100.0, free_bytes=lambda folder: 10**12, **options)
        self.seconds = 0.0

    def run(self, seconds: float, *, person: float = 0.0, reply: float = 0.0, deaf=False) -> None:
        for _ in range(round(seconds / TICK)):
            heard = NOTHING if deaf else 2 * person * sine(MICROPHONE, TICK)
            spoken = 2 * reply * sine(LOUDSPEAKER, TICK) if reply else NOTHING
            self.seconds += TICK
            played = Played(spoken, LOUDSPEAKER, more=bool(reply))
            self.recording.add(heard, MICROPHONE, played, 100.0 + self.seconds)


def levels(path: Path) -> tuple[list[float], list[float]]:
    """Loudness of the left and right side, one number each quarter of a second."""
    pcm, rate = soundfile.read(path, always_2d=True)
    assert (rate, pcm.shape[1]) == (SAMPLE_RATE, 2)
    step = rate // 4
    blocks = [pcm[at : at + step] for at in range(0, len(pcm) - step + 1, step)]
    left, right = zip(*(np.abs(block).max(axis=0) for block in blocks), strict=True)
    return [round(float(each), 1) for each in left], [round(float(each), 1) for each in right]


def test_the_person_is_left_and_the_assistant_right_when_each_was_heard(tmp_path):
    tape = Tape(tmp_path / "talk.wav")
    tape.run(1.0, person=0.5)
    tape.run(0.5)
    tape.run(1.0, reply=0.3)
    tape.run(0.5, person=0.5)  # who cut the reply
    recorded = tape.recording.close()
    assert (recorded.start_at, recorded.seconds) == (100.0, pytest.approx(3.0, abs=0.05))
    left, right = levels(recorded.path)
    assert left[:3] == [0.5] * 3
    assert max(left[5:9]) == 0.0
    assert left[-1] == 0.5
    assert right[7:9] == [0.3] * 2
    assert max(right[:5]) == max(right[11:], default=0.0) == 0.0


def test_without_a_microphone_the_reply_is_recorded_at_its_time(tmp_path):
    tape = Tape(tmp_path / "talk.wav")
    for seconds, reply in ((2.0, 0.0), (1.0, 0.3), (1.0, 0.0)):
        tape.run(seconds, reply=reply, deaf=True)
    recorded = tape.recording.close()
    _, right = levels(recorded.path)
    assert recorded.seconds == pytest.approx(4.0, abs=0.3)
    assert max(right[:6]) == 0.0
    assert right[10] == 0.3


def test_samples_a_microphone_lost_leave_silence_and_not_a_shift(tmp_path):
    tape = Tape(tmp_path / "talk.wav")
    tape.run(1.0, person=0.5)
    tape.seconds += 2.0  # nobody read
    tape.run(1.0, person=0.5)
    left, _ = levels(tape.recording.close().path)
    assert left[1] == left[-2] == 0.5
    assert max(left[5:10]) == 0.0
    assert len(left) in (15, 16)


def test_after_a_write_that_failed_what_was_written_is_kept(tmp_path, monkeypatch):
    tape = Tape(tmp_path / "talk.wav")
    tape.run(1.0, person=0.5)

    def full(self: wave.Wave_write, data: bytes) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(wave.Wave_write, "writeframes", full)
        tape.run(1.0, person=0.5)
        assert "No space left" in tape.recording.ended_by
        path = tape.recording.close().path
    assert soundfile.info(path).duration == pytest.approx(1.0, abs=0.3)
    assert list(tmp_path.iterdir()) == [path]


def stretch(path: Path, start_at: float, level: float) -> Recorded:
    soundfile.write(path, np.full((SAMPLE_RATE, 2), level), SAMPLE_RATE)
    return Recorded(path, start_at, 1.0)


def test_stretches_are_joined_with_the_silence_between_them(tmp_path):
    path = tmp_path / "both.wav"
    join([stretch(tmp_path / "a.wav", 5.0, 0.5), stretch(tmp_path / "b.wav", 8.0, 0.2)], path)
    left, right = levels(path)
    assert left == right == [0.5] * 4 + [0.0] * 8 + [0.2] * 4


def test_a_stretch_that_is_gone_or_hours_away_leaves_no_half_file(tmp_path):
    first = stretch(tmp_path / "a.wav", 0.0, 0.5)
    for other, refusal in (
        (Recorded(tmp_path / "gone.wav", 0.0, 1.0), "cannot be written"),
        (Recorded(first.path, LONGEST_S, 1.0), "hours"),
    ):
        with pytest.raises(InvalidInput, match=refusal):
            join([first, other], tmp_path / "talk.wav")
    assert list(tmp_path.iterdir()) == [first.path]


def test_the_folder_of_recordings_has_an_end(tmp_path):
    assert longest_s(tmp_path, most_bytes=960_000) == pytest.approx(10.0, abs=0.1)
    stretch(tmp_path / "a.wav", 0.0, 0.5)
    assert longest_s(tmp_path, most_bytes=960_000) == pytest.approx(9.0, abs=0.1)


RATE = 22_050
PAUSE = int(0.5 * RATE)
needs_livekit = pytest.mark.skipif(not denoiser(), reason="livekit is not installed")


@pytest.fixture(scope="module")
def speech() -> Pcm:
    """Half a second of silence, two of speech, and silence again."""
    with closing(EspeakModel()) as model, model.open(model.voices()[0], seed=0) as session:
        for word in ["The", "boat", "left", "the", "harbour", "in", "the", "morning."]:
            session.push_word(word)
        session.end_input()
        frames = []
        while isinstance(step := session.step(), AudioFrame):
            frames.append(step.pcm)
    silence = np.zeros(PAUSE, np.float32)
    return np.concatenate([silence, *frames, silence])


def noisy(pcm: Pcm, snr: float) -> Pcm:
    noise = np.random.default_rng(0).standard_normal(len(pcm))
    level = level_db(pcm[PAUSE:-PAUSE]) - snr
    return (pcm + noise * 10 ** (level / 20)).astype(np.float32)


def magnitudes(pcm: Pcm) -> np.ndarray:
    starts = range(0, len(pcm) - 512, 128)
    frames = np.stack([pcm[start : start + 512] for start in starts])
    return np.abs(np.fft.rfft(frames * np.hanning(512)))


def likeness_db(pcm: Pcm, clean: Pcm) -> float:
    found, wanted = magnitudes(pcm), magnitudes(clean)
    wanted = wanted * (np.sum(found * wanted) / np.sum(wanted**2))
    return float(10 * np.log10(np.sum(wanted**2) / np.sum((found - wanted) ** 2)))


@needs_livekit
@pytest.mark.parametrize(("snr", "gain"), [(5.0, 3.0), (10.0, 2.0)])
def test_noisy_speech_comes_nearer_to_clean(speech, snr, gain):
    given = noisy(speech, snr)
    assert snr_db(Clip(given, RATE)) < POOR_SNR_DB
    found = denoised(given, RATE)
    assert likeness_db(found, speech) > likeness_db(given, speech) + gain
    assert level_db(found[:PAUSE]) < level_db(given[:PAUSE]) - 6


@needs_livekit
def test_clean_speech_is_hardly_changed(speech):
    assert likeness_db(denoised(speech, RATE), speech) > 18


@needs_livekit
@pytest.mark.parametrize("samples", [RATE, RATE + 77, 3 * RATE])
def test_the_result_is_as_long_and_in_step(samples):
    clip = np.zeros(samples, np.float32)
    burst = slice(samples // 2, samples // 2 + RATE // 10)
    clip[burst] = 0.5 * np.sin(np.arange(RATE // 10) * 2 * np.pi * 440 / RATE)
    found = denoised(clip, RATE)
    assert len(found) == samples
    assert found.dtype == np.float32
    loud = np.flatnonzero(np.abs(found) > 0.1)
    assert abs(int(loud[0]) - burst.start) < RATE // 100


def test_without_a_library_that_fits_the_machine_the_clip_stays_as_it_is(speech, monkeypatch):
    def refuse(pcm: Pcm) -> Pcm:
        raise OSError("wrong ELF class")

    monkeypatch.setattr(denoise, "_suppressed", refuse)
    assert denoised(speech, RATE) is speech
    monkeypatch.setattr(echo, "find_spec", lambda name: None)
    assert denoiser() == ""
    assert denoised(speech, RATE) is speech


TENTH = np.full(800, 0.5, np.float32)


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
