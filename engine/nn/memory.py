"""Memory that loading needed and the C library still holds.

Invariant: changes no value; at worst it does nothing.
"""

import ctypes
import sys


def return_freed_memory() -> None:
    """Give freed memory back to the system, in some 10 ms. glibc keeps freed memory: 400 MB after
    the weights of the full-size model were packed, 70 MB after Whisper transcribed an utterance.
    """
    if sys.platform != "linux":
        return
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # other C libraries lack it
    if trim is not None:
        trim(0)
