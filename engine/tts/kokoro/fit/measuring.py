"""Measures of speech (pitch, pace, energy, spectra, levels, bandwidth), and the times of known
sounds in a recording, found by dynamic time warping against synthesised speech of the same text.

Speech is at 24 kHz, for the pitch at 16 kHz.
"""

from dataclasses import dataclass
from functools import cache
from typing import Final

import numpy as np
import numpy.typing as npt

from engine.nn.mel import mel_edges, triangles
from engine.tts.base import Pcm
from engine.tts.kokoro.durations import Frames
from engine.tts.kokoro.parts import FRAME, SAMPLE_RATE, STEP, Floats
from engine.tts.kokoro.plan import EARLY
from engine.tts.speaker.recording import resampled

Numbers = npt.NDArray[np.float64]

RATE: Final = 16_000
_LOWEST_HZ, _HIGHEST_HZ = 60, 450
_WINDOW: Final = 800  # samples of the pitch's frames
_HOP: Final = 160
_VOICED: Final = 0.55  # correlation of a frame with itself a period later
_LONGER: Final = 0.04  # taken off for each octave, or multiples of the period would win
_DIP_DB: Final = 2.0  # between two syllables
_FAINTEST_DB: Final = 25.0  # of a syllable, below the loudest ones

# Distances of log pitch from the values around and from all: octave errors, and pitch in noise.
_JUMP, _FAR = 0.45, 0.7
_AROUND: Final = 7  # values
_BLOCK: Final = SAMPLE_RATE // 50
_SOUNDING: Final = 0.05  # of the loud blocks' power
_FAINTEST: Final = 1e-7  # of the loudest band's power: below the resolution of any recording
_FFT: Final = 2048
_ENERGY: Final = (1200, 2048, 80, 16_000)  # window, FFT, bands, and the rate they were made for

_CEPSTRAL: Final = (720, 1024, 40)  # window, FFT and bands
_ENDS_HZ: Final = (60, 7_600)
_FAINT: Final = 0.002  # of the loud blocks' power: the weakest sound at an end
CEPSTRA: Final = 16
_DEEPEST: Final = 9.0  # nepers below the loud frames: silence
_SLOPE_WEIGHT, _LEVEL_WEIGHT = 1.5, 1.5
_MOVES: Final = np.array([[1, 1], [1, 0], [0, 1]])  # of a path: both go on, or one of them
_FACTORS: Final = np.array([[1.6], [1], [1]])  # on the distance, for each move
_STANDING: Final = np.array([[0], [0.02], [0.02]])  # added to it
_TURNS: Final = (0.25, 0.5, 0.75)  # of the sounds: the other orders


def log_pitch(pcm: Pcm) -> Numbers:
    """Return the natural logarithms of the pitch in Hz of the voiced frames at 16 kHz."""
    pitch = _raw_pitch(pcm, _HOP)
    return np.log(pitch[pitch > 0])


def _raw_pitch(pcm: Pcm, hop: int) -> Numbers:
    """Return the pitch in Hz of samples at 16 kHz, a value for each complete window, `hop` samples
    apart; 0 where unvoiced. The first window begins at the first sample.
    """
    if len(pcm) < _WINDOW:
        return np.zeros(0)
    frames = np.lib.stride_tricks.sliding_window_view(pcm, _WINDOW)[::hop]
    window = np.hanning(_WINDOW)
    spectra = np.fft.rfft((frames - frames.mean(1, keepdims=True)) * window, _FFT)
    likeness = np.fft.irfft(np.abs(spectra) ** 2)
    power = likeness[:, 0].copy()
    own = np.fft.irfft(np.abs(np.fft.rfft(window, _FFT)) ** 2)
    lags = np.arange(RATE // _HIGHEST_HZ, RATE // _LOWEST_HZ + 1)
    likeness = likeness[:, lags] / (power[:, None] + 1e-9) / (own[lags] / own[0])
    best = (likeness - _LONGER * np.log2(lags)).argmax(1)
    voiced = likeness[np.arange(len(best)), best] > _VOICED
    voiced &= power > 0.02 * np.percentile(power, 95)
    pitch: Numbers = np.where(voiced, RATE / lags[best], 0.0)
    return pitch


def pace(pcm: Pcm) -> float:
    """Count syllables a second: rises of the level between dips."""
    blocks = pcm[: len(pcm) // _HOP * _HOP].reshape(-1, _HOP).astype(np.float64)
    bump = np.hanning(9) / np.hanning(9).sum()
    levels = 10 * np.log10(np.convolve((blocks**2).mean(1), bump, "same") + 1e-8)
    faintest = np.percentile(levels, 95) - _FAINTEST_DB
    count, low, high = 0, levels[0], levels[0]
    for level in levels:
        high = max(high, level)
        if high - level > _DIP_DB:
            count += bool(high > faintest and high - low > _DIP_DB)
            low = high = level
        elif level < low:
            low = high = level
    return count * RATE / len(pcm)


def pitch_of(pcm: Pcm) -> Floats:
    """Return the pitch in Hz of samples at 24 kHz, a value every STEP; 0 where unvoiced."""
    hop = STEP * RATE // SAMPLE_RATE
    before = (_WINDOW - hop) // 2  # a value belongs to the middle of its step
    narrow = np.pad(resampled(pcm, SAMPLE_RATE, RATE), (before, 2 * _WINDOW))
    pitch = _raw_pitch(narrow, hop)[: len(pcm) // STEP]
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


@dataclass(frozen=True)
class Alignment:
    """The `frames` of each symbol in the recording. `distance`: the mean distance along the path,
    less that of the same sounds in another order; negative for the right text only.
    """

    frames: Frames
    distance: float


def align(clip: Pcm, said: Pcm, frames: Frames) -> Alignment:
    """Find the symbols of the speech `said`, which last `frames`, in the clip (24 kHz)."""
    # Without the silence at the ends, which would be the cheapest place of a word before a pause.
    ours, our_first, theirs, their_first = (*_speech(said), *_speech(clip))
    one, other = cepstra(ours), cepstra(theirs)
    squares = (one**2).sum(1)[:, None] + (other**2).sum(1) - 2 * one @ other.T
    distances = np.sqrt(np.maximum(0, squares) / one.shape[1])
    path, distance = _warp(distances)
    turned = (np.roll(distances, round(share * len(distances)), 0) for share in _TURNS)
    distance -= float(np.mean([_warp(each)[1] for each in turned]))
    at = np.clip(2 * (np.cumsum(frames)[:-1] - EARLY) - our_first, 0, path[-1, 0])
    found = np.array([path[path[:, 0] == place, 1].mean() for place in at])
    edges = (found + their_first) / 2 + EARLY
    total, count = len(clip) // FRAME, len(frames)
    ends = [0]
    for place, edge in enumerate([*edges, total]):  # at least a frame each
        latest = total - (count - 1 - place)
        ends.append(int(np.clip(round(edge), min(ends[-1] + 1, latest), latest)))
    return Alignment(np.diff(ends).astype(np.int64), distance)


def _speech(pcm: Pcm) -> tuple[Pcm, int]:
    """Return the samples between the silences, and the number of silent steps before them."""
    _, first, last = sounding(pcm, _FAINT)
    first = first // STEP * STEP
    return pcm[first:last], first // STEP


def cepstra(pcm: Pcm) -> Numbers:
    """Return cepstra and their slopes, a row every half frame, standardised over the utterance."""
    window, fft, bands = _CEPSTRAL
    filters = mel_filters(bands, fft, SAMPLE_RATE, *_ENDS_HZ)
    logs = np.log(powers(pcm, window, fft) @ filters + 1e-6)
    logs = np.maximum(logs, np.percentile(logs.max(1), 95) - _DEEPEST)
    turns = np.outer(np.arange(CEPSTRA), (np.arange(bands) + 0.5) / bands)
    rows = logs @ np.cos(np.pi * turns).T
    rows = (rows - rows.mean(0)) / (rows.std(0) + 1e-3)
    rows[:, 0] *= _LEVEL_WEIGHT
    slopes = np.gradient(rows, axis=0)
    return np.hstack([rows, _SLOPE_WEIGHT * slopes / (slopes.std(0) + 1e-3)])


def _warp(cost: Numbers) -> tuple[npt.NDArray[np.int64], float]:
    """Return the cheapest path [steps, 2] between two corners, and its mean cost."""
    rows, columns = cost.shape
    total = np.full((rows + 1, columns + 1), np.inf)
    total[0, 0] = 0
    moves = np.zeros(total.shape, np.int64)  # the cheapest one into each place
    for diagonal in range(2, rows + columns + 1):  # all places of a diagonal at once
        i = np.arange(max(1, diagonal - columns), min(rows, diagonal - 1) + 1)
        j = diagonal - i
        before = np.stack([total[i - down, j - right] for down, right in _MOVES])
        totals = before + _FACTORS * cost[i - 1, j - 1] + _STANDING
        total[i, j], moves[i, j] = totals.min(0), totals.argmin(0)
    place, path = np.array(cost.shape), []
    while place.all():
        path.append(place - 1)
        place = place - _MOVES[moves[tuple(place)]]
    way = np.array(path[::-1])
    return way, float(cost[way[:, 0], way[:, 1]].mean())
