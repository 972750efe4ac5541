"""What is special on Windows: programs without a terminal, long paths, Microsoft's runtime.

Invariant: everything here can be imported on any system, and reports no problem on others.
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
    """The path in a form that Windows accepts at any length; unchanged on other systems."""
    text = str(path)
    return text if system != "win32" or text.startswith("\\\\") else _VERBATIM + text


def missing_runtime(load: Callable[[str], object] = ctypes.CDLL, system: str = sys.platform) -> str:
    """A sentence for the person if Windows lacks the runtime that torch and others need, else
    ""."""
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
