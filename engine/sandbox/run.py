"""Run a program in the sandboxed process.

Invariant: the child inherits the open file as its standard input, so it needs no name; it never
outlives the call.
"""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import IO

from engine.errors import Cancelled
from engine.sandbox import child

_POLL_S = 0.05  # poll interval, so a cancelled child ends this soon
_ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}  # each thread takes memory


class TookTooLong(Exception):
    """The child did not end within its time."""


def run(
    program: str,
    arguments: Sequence[str],
    files: tuple[IO[bytes], IO[bytes]],
    *,
    seconds: float,
    cancelled: Callable[[], bool] = lambda: False,
) -> int:
    """Run a Python `program` (a path); return its exit status. TookTooLong; Cancelled."""
    command = [sys.executable, "-I", child.__file__, program, *arguments]
    give_up_at = time.monotonic() + seconds
    with subprocess.Popen(
        command,
        stdin=files[0],
        stdout=files[1],
        stderr=subprocess.DEVNULL,
        env=os.environ | _ONE_THREAD,
    ) as process:
        try:
            while process.poll() is None:
                if cancelled():
                    raise Cancelled("Reading the file was cancelled.")
                if time.monotonic() > give_up_at:
                    raise TookTooLong
                with suppress(subprocess.TimeoutExpired):
                    process.wait(_POLL_S)
        finally:
            process.kill()
    return process.returncode
