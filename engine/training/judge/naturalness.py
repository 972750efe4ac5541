"""How natural speech sounds, as DNSMOS estimates it (package speechmos, an extra of training).

Invariant: without the package nothing is estimated, and nothing is guessed.
"""

from dataclasses import dataclass
from importlib.util import find_spec
from typing import Final

import numpy as np
import soxr

from engine.training.judge.performance import Spoken

RATE: Final = 16_000


@dataclass(frozen=True)
class Naturalness:
    """Mean opinion scores, 1 to 5: after ITU-T P.808, and overall after P.835."""

    p808: float
    overall: float


def naturalness(sentence: Spoken) -> Naturalness | None:
    """Scores of an utterance (about a second); None for silence, or without speechmos."""
    if find_spec("speechmos") is None:
        return None
    from speechmos import dnsmos  # loads onnxruntime and its models

    samples = soxr.resample(sentence.pcm, sentence.sample_rate, RATE)
    peak = float(np.abs(samples).max())
    if peak == 0:
        return None
    scores = dnsmos.run(samples / max(1.0, peak), RATE)
    return Naturalness(float(scores["p808_mos"]), float(scores["ovrl_mos"]))
