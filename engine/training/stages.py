"""Which stages the recipes of a system have, in order, and which of a recipe's sections each
depends on.

Invariant: imports nothing that is slow, so that the corpus needs no torch.
"""

from typing import Final

VOXTREAM2: Final = "voxtream2"
VOXTREAM: Final = "voxtream"
Sections = dict[str, tuple[str, ...]]

_SPEAKER: Final = ("corpus", "begin_with", "speaker")
_DECODER: Final = ("corpus", "begin_with", "codec", "decoder")
_TOKENS: Final = (*_SPEAKER, "semantic")
_SPEAKSTREAM: Final = (*_DECODER, *_SPEAKER, "speakstream", "export")
_SMLLE: Final = (*_DECODER, *_TOKENS, "transducer", "spectrum", "export")
SECTIONS: Final[dict[str, Sections]] = {
    "speakstream": {
        "corpus": ("corpus",),
        "speaker": _SPEAKER,
        "encode": _SPEAKER,
        "decoder": (*_DECODER, *_SPEAKER),
        "voice": (*_SPEAKER, "speakstream"),
        "export": _SPEAKSTREAM,
    },
    "llmvox": {
        "corpus": ("corpus",),
        "speaker": _SPEAKER,
        "codec": ("corpus", "codec"),
        "encode": ("codec", *_SPEAKER),
        "decoder": _DECODER,
        "voice": ("codec", *_SPEAKER, "llmvox"),
        "export": (*_DECODER, *_SPEAKER, "llmvox", "export"),
    },
    "smlle": {
        "corpus": ("corpus",),
        "decoder": _DECODER,  # early: it may need another system's pack
        "speaker": _SPEAKER,
        "semantic": ("corpus", "semantic"),
        "tokens": _TOKENS,
        "transducer": (*_TOKENS, "transducer"),
        "spectrum": (*_TOKENS, "spectrum"),
        "export": _SMLLE,
    },
}
"""By system and stage, of what `all` does. Those of VoXtream2 and VoXtream are in run.py and
__main__.py.
"""
