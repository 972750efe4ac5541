"""The hash of the tensors that determine a codec's codes, computed without loading the codec.

Invariant: imports no torch, so that listing voices stays quick.
"""

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import IO, Final

from engine.errors import ModelError
from engine.translatable import Translatable

SPEAKING: Final = ("decoder.", "decoder_transformer.", "upsample.")  # the others decide the codes
REINSTALL: Final = Translatable("Install the program again.")
_LARGEST_HEADER: Final = 10_000_000  # bytes; a file of some hundred tensors has about ten thousand


def codes_hash(file: Path) -> str:
    """Return the sha256 of the parts of a codec's file that determine its codes. A new decoder
    does not change it. ModelError if the file is missing or damaged.
    """
    return tensors_hash(file, lambda name: not name.startswith(SPEAKING))


def tensors_hash(file: Path, wanted: Callable[[str], bool]) -> str:
    """Return the sha256 of the tensors of a safetensors file whose names are wanted. ModelError if
    the file is missing or damaged.
    """
    digest = hashlib.sha256()
    try:
        with file.open("rb") as stream:
            for name, content in _tensors(stream):
                if wanted(name):
                    digest.update(name.encode())
                    digest.update(content)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise ModelError(
            "The codec file {file} is damaged: {error}.", hint=REINSTALL, file=file, error=error
        ) from error
    return digest.hexdigest()


def _tensors(stream: IO[bytes]) -> list[tuple[str, bytes]]:
    """Yield name and bytes of each tensor of a safetensors file, sorted by name. ValueError for
    other files."""
    length = int.from_bytes(stream.read(8), "little")
    if length > _LARGEST_HEADER:
        raise ValueError("its header is too long")
    header = json.loads(stream.read(length))
    tensors = []
    for name in sorted(set(header) - {"__metadata__"}):
        start, end = header[name]["data_offsets"]
        stream.seek(8 + length + start)
        content = stream.read(end - start)
        if len(content) != end - start:
            raise ValueError("it is cut off")
        tensors.append((name, content))
    return tensors
