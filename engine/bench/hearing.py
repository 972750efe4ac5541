"""How soon after the end of speech a recogniser has it written, driven as in a conversation.

Invariant: what the transcriber's thread does is done in its order, each step as soon as its audio
would be there and the step before is over; nobody waits for the audio itself, so it is quicker than
speech.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np

from engine.asr.base import SAMPLE_RATE, Recogniser
from engine.runtime.turn.endpointing import PAUSE_MS
from engine.tts.base import Pcm

PIECE: Final = SAMPLE_RATE // 10  # samples that come at once
SILENT: Final = 0.01  # of the largest sample: what is quieter at the end is no speech


@dataclass(frozen=True)
class Hearing:
    """An utterance: seconds of computing in all, and of waiting from the last sound to
    the interim transcript that is its transcript.
    """

    busy_s: float
    final_s: float
    text: str


def hear(recogniser: Recogniser, speech: Pcm, now: Callable[[], float]) -> Hearing:
    """Samples [S] at 16 kHz, then silence as long as a pause takes to be noticed. `now` is a clock
    in seconds. RecogniserError as of the recogniser.
    """
    speech = _without_end(speech)
    recognition = recogniser.open()
    busy_s = free_at = 0.0  # free: when the thread has done all it was given
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


def _without_end(pcm: Pcm) -> Pcm:
    """Without the silence after the last sound."""
    loud = np.flatnonzero(np.abs(pcm) > SILENT * np.abs(pcm).max(initial=0.0))
    return pcm[: int(loud[-1]) + 1] if len(loud) else pcm
