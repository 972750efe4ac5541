"""Programs without a terminal, whose errors need a window, above all on Windows and macOS; and of
Windows, long paths and Microsoft's runtime.

Everything here can be called on any system; where it is not supported, nothing happens and no
problem is reported.
"""

import ctypes
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

from installer.commands import succeeds

WINDOWLESS = "pythonw.exe"  # Python without a terminal; its standard streams are None
RUNTIME = ("msvcp140.dll", "vcruntime140.dll", "vcruntime140_1.dll")
RUNTIME_PAGE = "https://aka.ms/vc14/vc_redist.x64.exe"
_VERBATIM = "\\\\?\\"


def like_us(python: Path, own: str = sys.executable) -> Path:
    """Return an environment's Python, without a terminal if this process has none."""
    return python.with_name(WINDOWLESS) if Path(own).name.lower() == WINDOWLESS else python


def verbatim(path: Path, system: str = sys.platform) -> str:
    """Return the path in a form that Windows accepts at any length; unchanged on other systems."""
    text = str(path)
    return text if system != "win32" or text.startswith("\\\\") else _VERBATIM + text


def missing_runtime(load: Callable[[str], object] = ctypes.CDLL, system: str = sys.platform) -> str:
    """Return a sentence for the user if Windows lacks the runtime of torch and others, else ""."""
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


_ERROR_SIGN, _INFORMATION_SIGN = 0x10, 0x40
_ALERT = 'on run argv\ndisplay alert "Rubato" message (item 1 of argv)\nend run'
_NOTIFICATION = 'on run argv\ndisplay notification (item 1 of argv) with title "Rubato"\nend run'


def open_streams() -> bool:
    """Return whether our standard error is not visible. Streams that Windows left out are opened to
    the null device, so that writing to them does no harm.
    """
    lacking = sys.stdout is None or sys.stderr is None
    if lacking:
        nowhere = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115  as long as we run
        sys.stdout = sys.stdout or nowhere
        sys.stderr = sys.stderr or nowhere
    return lacking or (sys.platform == "darwin" and not sys.stderr.isatty())


def show(sentence: str, sign: int = _ERROR_SIGN) -> None:
    """Show a sentence in a message box until the user closes it."""
    if sys.platform == "win32":
        ctypes.windll.user32.MessageBoxW(None, sentence, "Rubato", sign)
    elif sys.platform == "darwin":
        subprocess.run(["osascript", "-e", _ALERT, sentence], check=False)


def notify(sentence: str) -> None:
    """Show a sentence without waiting for the user: a notification, on Windows a message box."""
    if sys.platform == "win32":
        words = (sentence, _INFORMATION_SIGN)
        threading.Thread(target=show, args=words, daemon=True).start()
    elif sys.platform == "darwin":
        succeeds(["osascript", "-e", _NOTIFICATION, sentence])
    else:
        succeeds(["notify-send", "Rubato", sentence])
