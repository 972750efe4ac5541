"""Measures of speech at 24 kHz: pitch, energy, spectra, levels and bandwidth."""

from functools import cache
from typing import Final

import numpy as np
import numpy.typing as npt

from engine.nn.mel import mel_edges, triangles
from engine.tts.base import Pcm
from engine.tts.kokoro.parts import Floats
from engine.tts.kokoro.source import SAMPLE_RATE, STEP
from engine.tts.speaker import pitch as pitches
from engine.tts.speaker.recording import resampled

# Distances of log pitch from the values around and from all: octave errors, and pitch in noise.
_JUMP, _FAR = 0.45, 0.7
_AROUND: Final = 7  # values
_BLOCK: Final = SAMPLE_RATE // 50
_SOUNDING: Final = 0.05  # of the loud blocks' power
_FAINTEST: Final = 1e-7  # of the loudest band's power: below the resolution of any recording
_FFT: Final = 2048
_ENERGY: Final = (1200, 2048, 80, 16_000)  # window, FFT, bands, and the rate they were made for


def pitch_of(pcm: Pcm) -> Floats:
    """Return the pitch in Hz of samples at 24 kHz, a value every STEP; 0 where unvoiced."""
    hop = STEP * pitches.RATE // SAMPLE_RATE
    before = (pitches.WINDOW - hop) // 2  # a value belongs to the middle of its step
    narrow = np.pad(resampled(pcm, SAMPLE_RATE, pitches.RATE), (before, 2 * pitches.WINDOW))
    pitch = pitches.pitch_of(narrow, hop)[: len(pcm) // STEP]
    if pitch.any():
        usual = np.median(pitch[pitch > 0])
        pitch[np.abs(np.log(np.maximum(pitch, 1.0) / usual)) > _FAR] = 0.0
    for place in np.flatnonzero(pitch):
        near = pitch[max(0, place - _AROUND) : place + _AROUND + 1]
        middle = np.median(near[near > 0])
        if abs(np.log(pitch[place] / middle)) > _JUMP:
            pitch[place] = 0.0
    return pitch.astype(np.float32)


def energy_of(pcm: Pcm) -> Floats:
    """Return Kokoro's energy, a value every STEP: log of the norm of mel bands with StyleTTS 2's
    filters, which were made for 16 kHz.
    """
    window, fft, bands, rate = _ENERGY
    levels = powers(pcm, window, fft) @ mel_filters(bands, fft, rate, 0, rate / 2)
    return np.asarray(np.log(np.linalg.norm(1e-5 + levels, axis=1)), np.float32)


def powers(pcm: Pcm, window: int, fft: int) -> npt.NDArray[np.float64]:
    """Return power spectra [N, fft / 2 + 1] around the middle of every STEP."""
    padded = np.pad(pcm, (window, window + 2 * STEP))
    starts = np.arange(len(pcm) // STEP) * STEP + (STEP + window) // 2
    frames = padded[starts[:, None] + np.arange(window)]
    return np.asarray(np.abs(np.fft.rfft(frames * np.hanning(window), fft)) ** 2)


@cache
def mel_filters(bands: int, fft: int, rate: int, low: float, high: float) -> Floats:
    """Return triangular filters on the mel scale, [fft / 2 + 1, bands]."""
    return np.asarray(triangles(fft, rate, mel_edges(bands, low, high)))


def sounding(pcm: Pcm, share: float = _SOUNDING) -> tuple[float, int, int]:
    """Return the mean power of the sounding blocks of 20 ms (above `share` of the loud blocks'
    power), the first sample of the first one and the end of the last one.
    """
    power = (pcm[: len(pcm) // _BLOCK * _BLOCK].reshape(-1, _BLOCK).astype(np.float64) ** 2).mean(1)
    loud = power > share * np.percentile(power, 95)
    places = np.flatnonzero(loud)
    if not len(places):
        return 0.0, 0, 0
    return float(power[loud].mean()), int(places[0]) * _BLOCK, (int(places[-1]) + 1) * _BLOCK


def bandwidth(pcm: Pcm) -> float:
    """Return the highest frequency (Hz) in samples at 24 kHz: a file's rate can be higher than that
    of the recording in it.
    """
    often = np.percentile(powers(pcm, _FFT // 2, _FFT), 95, axis=0)
    bands = often[1:].reshape(-1, _FFT // 64).mean(1)  # of 375 Hz
    highest = int(np.flatnonzero(bands > _FAINTEST * bands.max())[-1])
    return float((highest + 0.5) * SAMPLE_RATE / 2 / len(bands))
