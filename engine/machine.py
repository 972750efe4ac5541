"""The machine: a graphics card that torch can use, the memory that the C library holds after
loading, Python's garbage collection meanwhile, and paths for libraries in C.

Invariant: torch takes seconds to import, so it is asked only if there may be a card. The functions
for memory change no value; at worst they do nothing.
"""

import ctypes
import gc
import importlib.util
import re
import shutil
import sys
from pathlib import Path
from typing import Final

_OLDEST: Final = 2  # the generation that holds all that has lived long
_NEVER: Final = 1_000_000  # collections of the middle generation
_LONGEST: Final = 32_768  # characters of any path on Windows
_thresholds = gc.get_threshold()


def has_usable_card() -> bool:
    """Return whether torch computes on a graphics card here."""
    if not (has_card_driver() and _knows_cuda()):
        return False
    import torch

    return torch.cuda.is_available()


def has_card_driver() -> bool:
    """Return whether there is an NVIDIA driver."""
    library = "nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1"
    try:
        ctypes.CDLL(library)
    except OSError:
        return shutil.which("nvidia-smi") is not None
    return True


def _knows_cuda() -> bool:
    """Return whether torch is installed and may have been built for CUDA, by its files."""
    spec = importlib.util.find_spec("torch")
    if spec is None:
        return False
    try:
        text = Path(spec.origin or "").with_name("version.py").read_text(encoding="utf-8")
    except (OSError, ValueError):
        return True
    return re.search(r"^cuda\b.*= None$", text, re.MULTILINE) is None


def collect_young_only() -> None:
    """Collect only young objects while modules are imported and models loaded: nearly all objects
    stay, and scanning them again and again takes an eighth of a start's processor time.
    """
    gc.set_threshold(*_thresholds[:_OLDEST], _NEVER)


def collect_all() -> None:
    """Restore normal garbage collection. Objects that exist now are never scanned again, as that
    would stop every thread for tenths of a second.
    """
    if gc.get_threshold() != _thresholds:
        if not gc.get_freeze_count():  # once: what comes after a first start may go again
            gc.freeze()
        gc.set_threshold(*_thresholds)


def collect_all_at_the_end() -> None:
    """Release the objects that collect_all() excluded. Otherwise they outlive Python's last
    collection, and native libraries report objects that were never freed.
    """
    gc.unfreeze()


def return_freed_memory() -> None:
    """Return freed memory to the system, in some 10 ms. glibc keeps it: 400 MB after the weights of
    the full-size model were packed, 70 MB after Whisper transcribed an utterance.
    """
    if sys.platform != "linux":
        return
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # other C libraries lack it
    if trim is not None:
        trim(0)


def native_path(path: Path | str) -> str:
    """Return the path of an existing file for libraries in C, which on Windows open files by the
    alphabet of one region: there, if it is not ASCII, by its short names, which are. (A disk
    without short names leaves it as it is.)
    """
    text = str(path)
    if sys.platform != "win32" or text.isascii():
        return text
    buffer = ctypes.create_unicode_buffer(_LONGEST)
    found = ctypes.windll.kernel32.GetShortPathNameW(text, buffer, _LONGEST)
    return buffer.value if 0 < found < _LONGEST else text
