"""Run a program that reads an untrusted file in a process of its own, with limits on memory, time
and output.

    python -I sandbox.py PROGRAM ARGUMENT…

That process imports nothing of the engine, so it starts quickly; a program may. Invariant: the
child inherits the open file as its standard input, so it needs no name; it never outlives the call.
Windows and macOS cannot limit a process's memory.
"""

import runpy
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO

MEMORY_BYTES = 1 << 30  # address space; the libraries alone take a third of it
PROCESSOR_S = 60
OUTPUT_BYTES = 1 << 30
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
    """Run a Python `program` (a path) with input and output `files`; return its exit status.
    TookTooLong after `seconds`; Cancelled.
    """
    import os
    import subprocess
    import time

    from engine.errors import Cancelled

    give_up_at = time.monotonic() + seconds
    with subprocess.Popen(
        [sys.executable, "-I", __file__, program, *arguments],
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


def limits_memory() -> bool:
    """Return whether the system can limit memory: Windows cannot, and macOS ignores the limit."""
    return sys.platform not in {"win32", "darwin"}


def limit() -> None:
    """Limit this process to MEMORY_BYTES, PROCESSOR_S and files of OUTPUT_BYTES."""
    if not limits_memory():
        return
    import resource

    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CPU, (PROCESSOR_S, PROCESSOR_S))
    resource.setrlimit(resource.RLIMIT_FSIZE, (OUTPUT_BYTES, OUTPUT_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


if __name__ == "__main__":
    limit()
    del sys.argv[0]
    sys.path.append(str(Path(__file__).parents[1]))
    runpy.run_path(sys.argv[0], run_name="__main__")
