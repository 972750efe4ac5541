"""Files of torch.save, which are pickles: they are read by torch's weights-only loader alone, which
runs nothing of what is in them.
"""

import pickle
import struct
import zipfile
from pathlib import Path
from typing import Any, Final

import torch

from engine.errors import ModelError
from engine.translatable import Translatable

# What the loader meets in bytes that are no pickle, or one that was cut off or changed.
_FAULTS: Final = (
    *(OSError, RuntimeError, EOFError, pickle.UnpicklingError, struct.error),
    *(LookupError, ValueError, TypeError, AttributeError, AssertionError),
)


def read_pickle(file: Path, what: Translatable, hint: str) -> dict[str, Any]:
    """The table in a file, its tensors on the processor and, where the format allows it, left on
    the disk until they are used. `what` the file is ("The speaker encoder") and the `hint` are for
    the ModelError when it is missing, damaged, or holds more than weights.
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
