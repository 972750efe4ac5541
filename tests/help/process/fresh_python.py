"""A Python of its own, as this one has imported everything by now."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]


def prints(code: str, *arguments: str, **environment: str) -> str:
    """What it prints, run in the program's folder; it has to end well."""
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        cwd=ROOT,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout.strip()
