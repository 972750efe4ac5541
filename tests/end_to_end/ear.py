"""An ear of the tests' own: what was said in a recording, and how fast.

Invariant: shares nothing with the engine's recogniser but the library, and knows only the sentences
it was given; it must be shown to hear the difference between them before it proves anything.
"""

import re
import tempfile
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import soundfile
import soxr

from engine.text.speakable import Speakable
from tests.end_to_end.spoken import Pcm

RATE = 16_000  # Hz
_ROOM = 0.003  # about -50 dB of noise: in digital silence this recogniser loses its way
_AROUND_S = 0.25


class Ear:
    """Hears which of the sentences is said; anything else is heard as one of them or as ''."""

    def __init__(self, sentences: Iterable[str]) -> None:
        import pocketsphinx

        grammar = "#JSGF V1.0;\ngrammar replies;\npublic <reply> = {};\n"
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "replies.gram"
            path.write_text(grammar.format(" | ".join(sorted(set(sentences)))))
            self._decoder = pocketsphinx.Decoder(
                jsgf=str(path), samprate=RATE, loglevel="FATAL", cmn="batch"
            )

    def hear(self, pcm: Pcm, rate: int) -> str:
        quiet = np.zeros(int(_AROUND_S * RATE), np.float32)
        heard = np.concatenate([quiet, soxr.resample(pcm, rate, RATE), quiet])
        heard = heard + np.random.default_rng(0).normal(0, _ROOM, len(heard))
        whole = (np.clip(heard, -1, 1) * 32767).astype("<i2")
        self._decoder.start_utt()
        self._decoder.process_raw(whole.tobytes(), full_utt=True)
        self._decoder.end_utt()
        hypothesis = self._decoder.hyp()
        return hypothesis.hypstr if hypothesis else ""


def as_spoken(text: str) -> str:
    """A reply in the words that are said, as the ear writes them: lower case, American, without
    punctuation.
    """
    speakable = Speakable()
    words = " ".join(word.text for word in [*speakable.push(text), *speakable.end()])
    american = words.lower().replace("-", " ").replace("metre", "meter")
    return " ".join(re.sub(r"[^a-z' ]", " ", american).split())


def recording(path: Path) -> tuple[Pcm, int]:
    """Samples of the first channel, and their rate in Hz."""
    pcm, rate = soundfile.read(path, dtype="float32", always_2d=True)
    return pcm[:, 0], rate


def stretches(pcm: Pcm, rate: int, *, apart_s: float = 0.8) -> list[tuple[float, float]]:
    """Where something is to be heard, as (start, end) in seconds; shorter gaps are part of it."""
    loud = np.flatnonzero(np.abs(pcm) > 0.01)
    if not len(loud):
        return []
    breaks = np.flatnonzero(np.diff(loud) > apart_s * rate)
    starts, ends = loud[np.r_[0, breaks + 1]], loud[np.r_[breaks, len(loud) - 1]]
    return [(start / rate, end / rate) for start, end in zip(starts, ends, strict=True)]


def between(pcm: Pcm, rate: int, start_s: float, end_s: float) -> Pcm:
    return pcm[int(start_s * rate) : int(end_s * rate)]


def syllables_per_second(pcm: Pcm, rate: int) -> float:
    """Peaks of the loudness between 300 and 3000 Hz: right for words of plain, open syllables."""
    from scipy import signal  # four seconds, which every process of a test would pay

    band = signal.butter(2, (300, 3000), "bandpass", fs=rate, output="sos")
    slow = signal.butter(2, 10, fs=rate, output="sos")
    loudness = signal.sosfiltfilt(slow, np.abs(signal.sosfiltfilt(band, pcm)))
    peaks, _ = signal.find_peaks(
        loudness, prominence=0.05 * loudness.max(), distance=int(0.08 * rate)
    )
    return len(peaks) / (len(pcm) / rate)
