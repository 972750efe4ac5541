"""How long a silence must last before what was said counts as all of it.

Invariant: pure; the more complete the words are, the shorter the silence, with every patience.
"""

from collections.abc import Mapping
from types import MappingProxyType

from engine.asr.completeness import Completeness

PAUSE_MS = 192  # of silence, after which the words are judged and the reply is prepared

_SETTLED, _WHOLE, _UNSURE, _OPEN = (
    Completeness.SETTLED,
    Completeness.WHOLE,
    Completeness.UNSURE,
    Completeness.OPEN,
)
# Milliseconds. A person who thinks in the middle of a sentence is silent for up to 1.5 s, and is
# not cut off by 'balanced' where the words so far leave something open.
_SILENCES: Mapping[str, Mapping[Completeness, int]] = MappingProxyType(
    {
        "quick": {_SETTLED: 224, _WHOLE: 320, _UNSURE: 512, _OPEN: 1200},
        "balanced": {_SETTLED: 288, _WHOLE: 448, _UNSURE: 1088, _OPEN: 1728},
        "patient": {_SETTLED: 608, _WHOLE: 1200, _UNSURE: 1728, _OPEN: 2592},
    }
)


def silence_ms(completeness: Completeness, patience: str) -> int:
    """The silence that ends a turn whose words are so complete; `patience` as in the settings."""
    return _SILENCES[patience][completeness]


def longest_silence_ms(patience: str) -> int:
    """The silence that ends a turn whatever was said."""
    return max(_SILENCES[patience].values())
