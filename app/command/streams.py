"""Makes standard output and error writable, whatever the system provides.

Invariant: imports only small parts of the standard library; it runs before anything is written.
"""

import io
import os
import sys
from pathlib import Path


def mend() -> None:
    """On Windows a program without a terminal has no streams (they are None), and output to a file
    would be in a regional encoding; then we write UTF-8. On all systems a letter that the terminal
    cannot show becomes a question mark instead of an error.
    """
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            nowhere = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115  as long as we run
            setattr(sys, name, nowhere)
        elif isinstance(stream, io.TextIOWrapper):
            as_file = sys.platform == "win32" and not stream.isatty()
            stream.reconfigure(errors="replace", encoding="utf-8" if as_file else None)
