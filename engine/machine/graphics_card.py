"""Detect a graphics card that torch can use.

Invariant: torch takes seconds to import, so it is asked only if there may be a card.
"""

import ctypes
import importlib.util
import re
import shutil
import sys
from pathlib import Path


def is_usable() -> bool:
    """Return whether torch computes on a graphics card here."""
    if not (has_driver() and knows_cuda()):
        return False
    import torch

    return torch.cuda.is_available()


def has_driver() -> bool:
    """Return whether there is an NVIDIA driver."""
    library = "nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1"
    try:
        ctypes.CDLL(library)
    except OSError:
        return shutil.which("nvidia-smi") is not None
    return True


def knows_cuda() -> bool:
    """Return whether torch is installed and may have been built for CUDA, by its files."""
    spec = importlib.util.find_spec("torch")
    if spec is None:
        return False
    try:
        text = Path(spec.origin or "").with_name("version.py").read_text(encoding="utf-8")
    except (OSError, ValueError):
        return True
    return re.search(r"^cuda\b.*= None$", text, re.MULTILINE) is None
