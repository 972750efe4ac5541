"""What can be measured in the speech alone, without knowing who made it.

Invariant: functions of the samples; the same ones measure the voice and the synthesisers.
"""

from typing import Final

import numpy as np
import numpy.typing as npt

from engine.tts.base import Pcm

HOP_SECONDS: Final = 0.01
QUIET_DB: Final = 35.0  # dB below the loudest part; quieter is not speech
LOW_HZ, HIGH_HZ = 300.0, 3000.0  # where vowels are strong
SMOOTHING_HOPS: Final = 7
NEAREST_HOPS: Final = 8  # two syllables are never closer
PAUSE_SECONDS: Final = 0.2
DIP: Final = 0.15  # the level must fall this much between two nuclei, as a share of the louder one


def speech_seconds(pcm: Pcm, sample_rate: int) -> float:
    """From the first sound to the last."""
    loud = np.flatnonzero(_levels(pcm, sample_rate) > -QUIET_DB)
    return float(loud[-1] - loud[0] + 1) * HOP_SECONDS if len(loud) else 0.0


def nuclei(pcm: Pcm, sample_rate: int) -> npt.NDArray[np.float64]:
    """Seconds of syllable nuclei: peaks of the level where vowels are strong."""
    envelope = 10 ** (_levels(_band(pcm, sample_rate), sample_rate) / 20)
    kernel = np.hanning(SMOOTHING_HOPS + 2)[1:-1]
    smooth = np.convolve(envelope, kernel / kernel.sum(), "same")
    floor = 10 ** (-QUIET_DB / 20)
    inner = smooth[1:-1]
    peaks = 1 + np.flatnonzero((inner > smooth[:-2]) & (inner >= smooth[2:]) & (inner > floor))
    chosen_peaks: list[int] = []
    for peak in peaks.tolist():
        if chosen_peaks and _same(smooth, chosen_peaks[-1], peak):
            chosen_peaks[-1] = max(chosen_peaks[-1], peak, key=smooth.__getitem__)
        else:
            chosen_peaks.append(peak)
    return np.asarray(chosen_peaks, np.float64) * HOP_SECONDS


def at_pauses(pcm: Pcm, sample_rate: int, longest_s: float) -> list[Pcm]:
    """The samples in pieces of at most `longest_s`, cut in the quietest PAUSE_SECONDS of the second
    half of each.
    """
    pieces, longest = [], int(longest_s * sample_rate)
    while len(pcm) > longest:
        part = pcm[longest // 2 : longest]
        width = round(PAUSE_SECONDS / HOP_SECONDS)
        power = np.convolve(10 ** (_levels(part, sample_rate) / 10), np.ones(width), "valid")
        middle = (int(power.argmin()) + width / 2) * HOP_SECONDS
        cut = longest // 2 + int(middle * sample_rate)
        pieces.append(pcm[:cut])
        pcm = pcm[cut:]
    return [*pieces, pcm]


def _same(smooth: npt.NDArray[np.float64], before: int, peak: int) -> bool:
    """Whether two peaks are one syllable: close together, or no dip between them."""
    louder, lesser = sorted((smooth[before], smooth[peak]), reverse=True)
    dip = lesser - smooth[before:peak].min()
    return peak - before < NEAREST_HOPS or bool(dip < DIP * louder)


def _levels(pcm: Pcm, sample_rate: int) -> npt.NDArray[np.float64]:
    """Level of every 10 ms in dB below the loudest."""
    hop = int(sample_rate * HOP_SECONDS)
    count = max(1, len(pcm) // hop)
    pieces = np.resize(pcm[: count * hop], (count, hop)) if len(pcm) < hop else pcm[: count * hop]
    power = np.mean(np.square(pieces.reshape(count, hop).astype(np.float64)), axis=1)
    decibels: npt.NDArray[np.float64] = 10 * np.log10(power + 1e-12)
    relative: npt.NDArray[np.float64] = decibels - decibels.max()
    return relative


def _band(pcm: Pcm, sample_rate: int) -> Pcm:
    """The samples between LOW_HZ and HIGH_HZ."""
    spectrum = np.fft.rfft(pcm)
    hertz = np.fft.rfftfreq(len(pcm), 1 / sample_rate)
    spectrum[(hertz < LOW_HZ) | (hertz > HIGH_HZ)] = 0
    return np.fft.irfft(spectrum, len(pcm)).astype(np.float32)
