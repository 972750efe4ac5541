"""Shows an error where there is no terminal: on Windows and macOS.

Invariant: everything here can be called on any system; where it is not supported, nothing happens.
"""

import ctypes
import os
import subprocess
import sys
from pathlib import Path

_ERROR_SIGN = 0x10
_APPLE_SCRIPT = 'on run argv\ndisplay alert "Rubato" message (item 1 of argv)\nend run'


def open_streams() -> bool:
    """Whether nobody reads our standard error. Streams that Windows left out are opened to the null
    device, so that writing to them does no harm.
    """
    lacking = sys.stdout is None or sys.stderr is None
    if lacking:
        nowhere = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115  as long as we run
        sys.stdout = sys.stdout or nowhere
        sys.stderr = sys.stderr or nowhere
    return lacking or (sys.platform == "darwin" and not sys.stderr.isatty())


def show(sentence: str) -> None:
    """Show it in a message box until the person closes it."""
    if sys.platform == "win32":
        ctypes.windll.user32.MessageBoxW(None, sentence, "Rubato", _ERROR_SIGN)
    elif sys.platform == "darwin":
        subprocess.run(["osascript", "-e", _APPLE_SCRIPT, sentence], check=False)
