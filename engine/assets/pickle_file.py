"""Files of torch.save, which are pickles: read only with torch's weights-only loader, which runs no
code from them.
"""

import pickle
import struct
import zipfile
from pathlib import Path
from typing import Any, Final

import torch

from engine.errors import ModelError
from engine.translatable import Translatable

# Errors of the loader for files that are not pickles, truncated or changed.
_FAULTS: Final = (
    *(OSError, RuntimeError, EOFError, pickle.UnpicklingError, struct.error),
    *(LookupError, ValueError, TypeError, AttributeError, AssertionError),
)


def read_pickle(file: Path, what: Translatable, hint: str) -> dict[str, Any]:
    """Return the dictionary in a file, its tensors on the processor and, if the format allows it,
    on the disk until they are used. `what` names the file ("The speaker encoder"); it and the
    `hint` are for the ModelError if the file is missing, damaged, or holds more than weights.
    """
    if not file.is_file():
        raise ModelError("{what} {file} is not there.", hint=hint, what=what, file=file)
    refusal = ModelError(
        "{what} {file} is damaged or holds more than weights.", hint=hint, what=what, file=file
    )
    try:
        in_place = zipfile.is_zipfile(file)
        content = torch.load(file, map_location="cpu", weights_only=True, mmap=in_place)
    except _FAULTS as error:
        raise refusal from error
    if not isinstance(content, dict):
        raise refusal
    return content
