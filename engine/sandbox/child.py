"""Set the limits of this process, then run a program that reads an untrusted file.

    python -I child.py PROGRAM ARGUMENT…

It imports nothing of the engine, so it starts quickly; a program may. Windows and macOS cannot
limit a process's memory.
"""

import runpy
import sys
from pathlib import Path

MEMORY_BYTES = 1 << 30  # address space; the libraries alone take a third of it
PROCESSOR_S = 60
OUTPUT_BYTES = 1 << 30


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
    sys.path.append(str(Path(__file__).parents[2]))
    runpy.run_path(sys.argv[0], run_name="__main__")
