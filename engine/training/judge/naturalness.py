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


def naturalness(spoken: Spoken) -> Naturalness | None:
    """Scores of an utterance (about a second); None for silence, or without speechmos."""
    if find_spec("speechmos") is None:
        return None
    from speechmos import dnsmos  # loads onnxruntime and its models

    heard = soxr.resample(spoken.pcm, spoken.sample_rate, RATE)
    peak = float(np.abs(heard).max())
    if peak == 0:
        return None
    found = dnsmos.run(heard / max(1.0, peak), RATE)
    return Naturalness(float(found["p808_mos"]), float(found["ovrl_mos"]))
