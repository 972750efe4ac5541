"""Standard output and error that can be written to, whatever the system gave us.

Invariant: imports only small parts of the standard library; it runs before anything is written.
"""

import io
import os
import sys
from pathlib import Path


def mend() -> None:
    """On Windows a program without a terminal has no streams (they are None), and one whose output
    goes to a file would write the alphabet of one region: it writes UTF-8 then. Anywhere a letter
    that the terminal cannot show becomes a question mark rather than a failure.
    """
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            nowhere = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115  as long as we run
            setattr(sys, name, nowhere)
        elif isinstance(stream, io.TextIOWrapper):
            as_file = sys.platform == "win32" and not stream.isatty()
            stream.reconfigure(errors="replace", encoding="utf-8" if as_file else None)
