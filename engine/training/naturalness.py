"""How natural speech sounds, as DNSMOS estimates it (package speechmos, an extra of training).

Invariant: without the package the rows say so.
"""

from collections.abc import Sequence
from importlib.util import find_spec
from statistics import median
from typing import Final

import numpy as np
import soxr

from engine.training.performance import Spoken

RATE: Final = 16_000
MOST: Final = 40  # utterances judged; each takes about a second
UNMEASURED: Final = "not measured here (pip install speechmos)"


def rows(ours: Sequence[Spoken], theirs: Sequence[Spoken]) -> list[tuple[str, str, str, str]]:
    """Rows for DNSMOS P.808 and overall: name, target, this voice, sources."""
    target = "within 0.2 of the sources"
    if find_spec("speechmos") is None:
        return [("DNSMOS P.808 / overall", target, UNMEASURED, UNMEASURED)]
    return [("DNSMOS P.808 / overall", target, _scores(ours), _scores(theirs))]


def _scores(said: Sequence[Spoken]) -> str:
    from speechmos import dnsmos  # loads onnxruntime and its models

    found = []
    for spoken in said[:: max(1, len(said) // MOST)]:
        heard = soxr.resample(spoken.pcm, spoken.sample_rate, RATE)
        peak = float(np.abs(heard).max())
        if peak > 0:
            found.append(dnsmos.run(heard / max(1.0, peak), RATE))
    if not found:
        return UNMEASURED
    scores = [median(float(each[key]) for each in found) for key in ("p808_mos", "ovrl_mos")]
    return f"{scores[0]:.2f} / {scores[1]:.2f}"
