"""Memory that the C library holds after loading, and Python's garbage collection meanwhile.

Invariant: changes no value; at worst it does nothing.
"""

import ctypes
import gc
import sys
from typing import Final

_OLDEST: Final = 2  # the generation that holds all that has lived long
_NEVER: Final = 1_000_000  # collections of the middle generation
_thresholds = gc.get_threshold()


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
