"""Spoken questions, made by flite: a voice the recogniser of a fresh installation understands.

Invariant: the same texts give the same samples.
"""

import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np
import numpy.typing as npt
import soundfile
import soxr

RATE = 16_000  # Hz; what most of flite's voices speak at
HEAD_S, TAIL_S = 0.6, 1.2  # silence around the questions, so that none begins cut off
Pcm = npt.NDArray[np.float32]  # [S] mono, -1..1


def missing_programs() -> tuple[str, ...]:
    """Programs that must be installed before anything can be asked aloud."""
    return () if shutil.which("flite") else ("flite",)


def spoken(text: str, voice: str = "slt") -> Pcm:
    """One sentence at RATE, without silence around it."""
    with tempfile.TemporaryDirectory() as folder:
        wav = Path(folder) / "spoken.wav"
        command = ["flite", "-voice", voice, "-t", text, "-o", str(wav)]
        subprocess.run(command, check=True, timeout=60, stdin=subprocess.DEVNULL)
        pcm, rate = soundfile.read(wav, dtype="float32")
    return pcm if rate == RATE else soxr.resample(pcm, rate, RATE)


def write_questions(path: Path, *texts: str, pauses_s: tuple[float, ...] = ()) -> Path:
    """A WAV of questions; `pauses_s` lie between them, one fewer than there are questions."""
    parts = [silence(HEAD_S)]
    for text, pause_s in zip(texts, (*pauses_s, TAIL_S), strict=True):
        parts += [spoken(text), silence(pause_s)]
    soundfile.write(path, np.concatenate(parts), RATE, subtype="PCM_16")
    return path


def silence(seconds: float) -> Pcm:
    return np.zeros(int(seconds * RATE), np.float32)
