"""The audio of one utterance, with Silero's speech probability of every 32 ms.

Both recognisers decode stored audio again, and can handle neither silence nor an endless utterance.
Invariant: samples and probabilities stay aligned; a clip that is cut off begins and ends on a
window.
"""

from dataclasses import dataclass
from itertools import takewhile

import numpy as np

from engine.asr.base import SAMPLE_RATE
from engine.audio.pcm import Pcm
from engine.audio.vad import WINDOW, Vad, speech_stretches

KEEP_WINDOWS = SAMPLE_RATE // 2 // WINDOW  # the last half second is not cut: it may still change

PAUSING_WINDOWS = 3
SENTENCE_PAUSE_MS = 400  # the shortest pause that can end a sentence
PAUSING_BELOW = 0.35  # speech probability; the same limit as for the end of a stretch of speech


@dataclass(frozen=True)
class Clip:
    """Samples [S] at 16 kHz and the speech probability of each complete window of 512."""

    pcm: Pcm
    probabilities: tuple[float, ...]
    in_speech: bool = False  # cut off in a pause too short to end a sentence

    def spoken(self, *, pause_ms: int, margin_ms: int) -> Pcm:
        """Join the stretches with speech: remove pauses longer than `pause_ms`, but keep
        `margin_ms` of silence around each stretch. Empty if there is no speech.
        """
        stretches = speech_stretches(
            self.probabilities, len(self.pcm), pause_ms=pause_ms, margin_ms=margin_ms
        )
        parts = [self.pcm[stretch.start : stretch.end] for stretch in stretches]
        return np.concatenate(parts) if parts else np.zeros(0, np.float32)


class UtteranceAudio:
    """Grows by push(), shrinks by take_head(); never much longer than `limit_s` with both."""

    def __init__(self, vad: Vad, *, limit_s: int, cut_s: int) -> None:
        """Resets `vad`, which then belongs to this utterance. A head is cut in the last `cut_s` of
        `limit_s` seconds.
        """
        vad.reset()
        self._vad = vad
        self._limit_windows = limit_s * SAMPLE_RATE // WINDOW
        self._cut_windows = cut_s * SAMPLE_RATE // WINDOW
        self._pcm = np.zeros(0, np.float32)
        self._probabilities: list[float] = []

    def push(self, pcm: Pcm) -> Pcm:
        """Append samples [S]; return them as stored: clipped to -1..1, invalid ones as silence."""
        clean = np.clip(np.nan_to_num(pcm, nan=0.0, posinf=0.0, neginf=0.0), -1.0, 1.0)
        clean = clean.astype(np.float32, copy=False)
        self._probabilities += self._vad.push(clean)
        self._pcm = np.concatenate([self._pcm, clean])
        return clean

    @property
    def full(self) -> bool:
        """True if the audio exceeds the limit, so that take_head() must be called."""
        return len(self._probabilities) >= self._limit_windows

    @property
    def pausing(self) -> bool:
        """True if the last windows contain no speech."""
        return max(self._probabilities[-PAUSING_WINDOWS:], default=0.0) < PAUSING_BELOW

    def clip(self) -> Clip:
        """Return all stored audio."""
        return Clip(self._pcm, tuple(self._probabilities))

    def take_head(self) -> Clip:
        """Cut off and return the head of a full utterance, where speech is least likely."""
        last = self._limit_windows - KEEP_WINDOWS
        first = last - self._cut_windows
        cut = first + int(np.argmin(self._probabilities[first:last])) + 1
        silent = [each < PAUSING_BELOW for each in self._probabilities]
        around = (silent[:cut][::-1], silent[cut:])  # of the pause around the cut, if there is one
        pause = sum(sum(takewhile(bool, each)) for each in around) if silent[cut - 1] else 0
        in_speech = pause * WINDOW * 1000 // SAMPLE_RATE < SENTENCE_PAUSE_MS
        head = Clip(self._pcm[: cut * WINDOW], tuple(self._probabilities[:cut]), in_speech)
        self._pcm = self._pcm[cut * WINDOW :]
        del self._probabilities[:cut]
        return head
