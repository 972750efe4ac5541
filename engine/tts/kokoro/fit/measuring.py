"""Measures of a recording and of speech at 24 kHz: pitch, pace, energy and colour."""

from functools import cache
from typing import Final

import numpy as np
import numpy.typing as npt

from engine.nn.mel import mel_edges, triangles
from engine.tts.base import Pcm
from engine.tts.kokoro import resemblance
from engine.tts.kokoro.delivery import SLOWNESS, SPREADS, TAPS, VOICED_HZ, Delivery
from engine.tts.kokoro.parts import Floats
from engine.tts.kokoro.source import SAMPLE_RATE, STEP
from engine.tts.speaker.recording import resampled
from engine.tts.speaker.small import SAMPLE_RATE as PITCH_RATE

_PITCH_HOP: Final = STEP * PITCH_RATE // SAMPLE_RATE
# Distances of log pitch from the values around and from all: octave errors, and pitch in noise.
_JUMP, _FAR = 0.45, 0.7
_AROUND: Final = 7  # values
_BLOCK: Final = SAMPLE_RATE // 50
_SOUNDING: Final = 0.05  # of the loud blocks' power
_FAINTEST: Final = 1e-7  # of the loudest band's power: below the resolution of any recording
_COLOUR_BANDS, _FFT = 40, 2048
_MOST_COLOUR: Final = 1.5  # nepers of amplitude, 13 dB
_ENERGY: Final = (1200, 2048, 80, 16_000)  # window, FFT, bands, and the rate they were made for


def pitch_of(pcm: Pcm) -> Floats:
    """Return the pitch in Hz of samples at 24 kHz, a value every STEP; 0 where unvoiced."""
    narrow = resampled(pcm, SAMPLE_RATE, PITCH_RATE)
    before = (resemblance.WINDOW - _PITCH_HOP) // 2  # a value belongs to the middle of its step
    count = len(pcm) // STEP
    narrow = np.pad(narrow, (before, 2 * resemblance.WINDOW))
    pitch = resemblance.pitch_of(narrow, _PITCH_HOP)[:count]
    voiced = pitch > 0
    if voiced.any():
        usual = np.median(pitch[voiced])
        pitch[np.abs(np.log(np.where(voiced, pitch, usual) / usual)) > _FAR] = 0.0
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


def own_pitch(pitch: Floats, theirs: Floats) -> tuple[float, float]:
    """Return the offset and spread (see Delivery) that give a voice's log pitch the median and the
    spread of `theirs`; no change where too little is voiced.
    """
    ours, wanted = (np.log(each[each > VOICED_HZ]) for each in (pitch, theirs))
    if min(len(ours), len(wanted)) < 2 * _AROUND:
        return 0.0, 1.0
    widths = [float(np.ptp(np.percentile(each, (15, 85)))) for each in (wanted, ours)]
    spread = float(np.clip(widths[0] / max(widths[1], 1e-3), *SPREADS))
    return float(np.median(wanted) - spread * np.median(ours)), spread


def bandwidth(pcm: Pcm) -> float:
    """Return the highest frequency (Hz) in samples at 24 kHz: a file's rate can be higher than that
    of the recording in it.
    """
    often = np.percentile(powers(pcm, _FFT // 2, _FFT), 95, axis=0)
    bands = often[1:].reshape(-1, _FFT // 64).mean(1)  # of 375 Hz
    highest = int(np.flatnonzero(bands > _FAINTEST * bands.max())[-1])
    return float((highest + 0.5) * SAMPLE_RATE / 2 / len(bands))


def delivery_of(clip: Pcm, sample_rate: int, said: Pcm, pitch: Floats) -> Delivery:
    """Compare the clip with the voice's speech `said` at 24 kHz, which has this pitch."""
    wide = resampled(clip, sample_rate, SAMPLE_RATE)
    offset, spread = own_pitch(pitch, pitch_of(wide))
    paces = [resemblance.pace(resampled(each, SAMPLE_RATE, PITCH_RATE)) for each in (said, wide)]
    slowness = float(np.clip(paces[0] / max(paces[1], 0.1), *SLOWNESS))
    return Delivery(offset, spread, slowness, equaliser(wide, said))


def equaliser(clip: Pcm, said: Pcm) -> Floats:
    """Return taps that give speech at 24 kHz a clip's long-term spectrum, up to its bandwidth."""
    edges = mel_edges(_COLOUR_BANDS, 40, SAMPLE_RATE / 2)
    filters, middles = (np.asarray(x) for x in (triangles(_FFT, SAMPLE_RATE, edges), edges[1:-1]))
    levels = []
    for pcm in (clip, said):
        bands = powers(pcm, _FFT // 2, _FFT) @ filters
        loud = bands[bands.sum(1) > _SOUNDING * np.percentile(bands.sum(1), 95)].mean(0)
        levels.append(np.log(loud / loud.sum() + 1e-7) / 2)
    gains = np.where(middles < bandwidth(clip), levels[0] - levels[1], 0.0)
    gains = np.clip(gains, -_MOST_COLOUR, _MOST_COLOUR)
    return _filter_of(np.interp(np.linspace(0, SAMPLE_RATE / 2, _FFT // 2 + 1), middles, gains))


def _filter_of(gains: npt.NDArray[np.float64]) -> Floats:
    """Return taps of minimum phase with these gains [_FFT / 2 + 1], logarithms of amplitude."""
    cepstrum = np.fft.irfft(gains)
    cepstrum[1 : _FFT // 2] *= 2
    cepstrum[_FFT // 2 + 1 :] = 0
    taps = np.fft.irfft(np.exp(np.fft.rfft(cepstrum)))[:TAPS]
    return np.asarray(taps * np.hanning(2 * TAPS)[TAPS:], np.float32)
