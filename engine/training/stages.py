"""Which stages the recipes of a system have, in order, and which of a recipe's sections each
depends on.

Invariant: imports nothing that is slow, so that the corpus needs no torch.
"""

from typing import Final

VOXTREAM2: Final = "voxtream2"
Sections = dict[str, tuple[str, ...]]

_SPEAKER: Final = ("corpus", "begin_with", "speaker")
_DECODER: Final = ("corpus", "begin_with", "codec", "decoder")
SECTIONS: Final[dict[str, Sections]] = {
    "speakstream": {
        "corpus": ("corpus",),
        "speaker": _SPEAKER,
        "encode": _SPEAKER,
        "decoder": (*_DECODER, *_SPEAKER),
        "voice": (*_SPEAKER, "speakstream"),
        "export": (*_DECODER, *_SPEAKER, "speakstream", "export"),
    },
}
"""By system and stage. Those of VoXtream2 are in run.py and __main__.py."""
