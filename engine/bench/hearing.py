"""Delay from the end of speech to a recogniser's transcript, driven as in a conversation.

Invariant: the steps of the transcriber's thread run in its order, each as soon as its audio would
have arrived and the previous step is over. Nothing waits for real audio, so this is faster than
speech.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np

from engine.asr.base import SAMPLE_RATE, Recogniser
from engine.runtime.turn.endpointing import PAUSE_MS
from engine.tts.base import Pcm

PIECE: Final = SAMPLE_RATE // 10  # samples per block
SILENT: Final = 0.01  # of the largest sample: quieter samples at the end are not speech


@dataclass(frozen=True)
class Hearing:
    """One utterance: seconds of computing in all, and from the last sound to the interim transcript
    that becomes its transcript.
    """

    busy_s: float
    final_s: float
    text: str


def hear(recogniser: Recogniser, speech: Pcm, now: Callable[[], float]) -> Hearing:
    """Decode samples [S] at 16 kHz, then the silence after which a pause is noticed. `now` is a
    clock in seconds. RecogniserError as in the recogniser.
    """
    speech = _trim_end(speech)
    recognition = recogniser.open()
    busy_s = free_at = 0.0  # free_at: when the thread has finished its work
    try:
        heard = np.concatenate([speech, np.zeros(PAUSE_MS * SAMPLE_RATE // 1000, np.float32)])
        for first in range(0, len(heard), PIECE):
            piece = heard[first : first + PIECE]
            began = now()
            recognition.push(piece)
            recognition.peek()
            recognition.partial()
            took_s = now() - began
            busy_s += took_s
            free_at = max(free_at, (first + len(piece)) / SAMPLE_RATE) + took_s
        began = now()
        interim = recognition.interim(lambda: True)
        took_s = now() - began
        end_s = len(speech) / SAMPLE_RATE
        return Hearing(busy_s + took_s, free_at + took_s - end_s, interim.text if interim else "")
    finally:
        recognition.close()


def _trim_end(pcm: Pcm) -> Pcm:
    """Cut off the silence after the last sound."""
    loud = np.flatnonzero(np.abs(pcm) > SILENT * np.abs(pcm).max(initial=0.0))
    return pcm[: int(loud[-1]) + 1] if len(loud) else pcm
