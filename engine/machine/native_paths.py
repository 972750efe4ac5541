"""Paths for libraries in C, which on Windows open files by the alphabet of one region.

Invariant: the returned path names the same file, which has to exist.
"""

import ctypes
import sys
from pathlib import Path

_LONGEST = 32_768  # characters of any path on Windows


def native_path(path: Path | str) -> str:
    """Return the path; on Windows, if it is not ASCII, by its short names, which are. (A disk
    without short names leaves it as it is.)
    """
    text = str(path)
    if sys.platform != "win32" or text.isascii():
        return text
    buffer = ctypes.create_unicode_buffer(_LONGEST)
    found = ctypes.windll.kernel32.GetShortPathNameW(text, buffer, _LONGEST)
    return buffer.value if 0 < found < _LONGEST else text
