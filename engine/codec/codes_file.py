"""The hash of the tensors that determine a codec's codes, computed without loading the codec.

Invariant: imports no torch, so that listing voices stays quick.
"""

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Final

from safetensors import SafetensorError, safe_open

from engine.errors import ModelError
from engine.translatable import Translatable

SPEAKING: Final = ("decoder.", "decoder_transformer.", "upsample.")  # the others decide the codes
REINSTALL: Final = Translatable("Install the program again.")


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
        with safe_open(str(file), framework="np") as handle:  # type: ignore[no-untyped-call]
            for name in sorted(filter(wanted, handle.keys())):
                digest.update(name.encode())
                digest.update(handle.get_tensor(name).tobytes())
    except (OSError, TypeError, SafetensorError) as error:  # TypeError: bfloat16
        raise ModelError(
            "The codec file {file} is damaged: {error}.", hint=REINSTALL, file=file, error=error
        ) from error
    return digest.hexdigest()
