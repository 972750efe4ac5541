"""Which of a voice pack's files its voices depend on.

Invariant: imports no torch, so that listing voices stays quick.
"""

import hashlib
from pathlib import Path
from typing import Final

from engine.codec.codes_file import codes_hash
from engine.tts.packs import SPEAKER_FILE

CODEC_FILE: Final = "codec.safetensors"
EDITION_LETTERS: Final = 8  # of a hash; two packs on one machine are many


def edition_of(folder: Path) -> str:
    """A voice is codes and a vector. It cannot be used with other codes or another speaker encoder,
    but with another decoder of the same codes. ModelError, OSError when a file is not whole.
    """
    digest = hashlib.sha256((folder / SPEAKER_FILE).read_bytes())
    digest.update(codes_hash(folder / CODEC_FILE).encode())
    return digest.hexdigest()[:EDITION_LETTERS]
