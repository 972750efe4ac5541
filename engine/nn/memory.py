"""Memory that loading used and the C library keeps.

Invariant: changes no value; at worst it does nothing.
"""

import ctypes
import sys


def return_freed_memory() -> None:
    """Give freed memory back to the system. glibc keeps what packing weights used and freed: some
    400 MB after loading the full-size model.
    """
    if sys.platform != "linux":
        return
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # other C libraries lack it
    if trim is not None:
        trim(0)
