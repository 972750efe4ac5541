"""Recordings rid of steady noise."""

from contextlib import closing

import numpy as np
import pytest

from engine.audio.base import Pcm
from engine.audio.clips import denoise
from engine.audio.clips.clip import POOR_SNR_DB, Clip, snr_db
from engine.audio.clips.denoise import denoised, denoiser
from engine.audio.echo import canceller as echo
from engine.audio.pcm import level_db
from engine.tts.base import AudioFrame
from engine.tts.espeak.model import EspeakModel

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

    monkeypatch.setattr(denoise, "_suppress", refuse)
    assert denoised(speech, RATE) is speech
    monkeypatch.setattr(echo, "find_spec", lambda name: None)
    assert denoiser() == ""
    assert denoised(speech, RATE) is speech
