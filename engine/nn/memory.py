"""Memory that loading used and the C library keeps.

Invariant: changes no value; at worst it does nothing.
"""

import ctypes
import sys


def return_freed_memory() -> None:
    """Give freed memory back to the system, in some 10 ms. glibc keeps what was used and freed:
    400 MB after packing the weights of the full-size model, 70 after Whisper heard an utterance.
    """
    if sys.platform != "linux":
        return
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # other C libraries lack it
    if trim is not None:
        trim(0)
