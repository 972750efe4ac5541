"""A new Python process, for tests of what is imported: the tests' own process has imported
everything.
"""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]


def prints(code: str, *arguments: str, **environment: str) -> str:
    """Return what the code prints when it runs in the program's folder. It must end without an
    error.
    """
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
