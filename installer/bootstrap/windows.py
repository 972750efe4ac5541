"""What is different on Windows: programs without a terminal, long paths, Microsoft's runtime.

Invariant: everything here can be imported, and says nothing is wrong, on any system.
"""

import ctypes
import sys
from collections.abc import Callable
from pathlib import Path

WINDOWLESS = "pythonw.exe"  # Python without a terminal; its standard streams are None
RUNTIME = ("msvcp140.dll", "vcruntime140.dll", "vcruntime140_1.dll")
RUNTIME_PAGE = "https://aka.ms/vc14/vc_redist.x64.exe"
_VERBATIM = "\\\\?\\"


def like_us(python: Path, own: str = sys.executable) -> Path:
    """An environment's Python, without a terminal if we have none."""
    return python.with_name(WINDOWLESS) if Path(own).name.lower() == WINDOWLESS else python


def verbatim(path: Path, system: str = sys.platform) -> str:
    """The path as Windows takes it whatever its length; elsewhere as it is."""
    text = str(path)
    return text if system != "win32" or text.startswith("\\\\") else _VERBATIM + text


def missing_runtime(load: Callable[[str], object] = ctypes.CDLL, system: str = sys.platform) -> str:
    """A sentence for the person where Windows lacks what torch and others were built with."""
    if system != "win32":
        return ""
    for name in RUNTIME:
        try:
            load(name)
        except OSError:
            return (
                f"Windows lacks Microsoft's Visual C++ runtime ({name}). Install it from "
                f"{RUNTIME_PAGE} (it asks for an administrator once) and start again."
            )
    return ""
