"""What importing the engine does."""

import os
import subprocess
import sys

import pytest


@pytest.mark.skipif(sys.platform != "linux", reason="threads are counted in /proc")
def test_numpy_gets_no_thread_that_would_spin() -> None:
    environment = {n: v for n, v in os.environ.items() if not n.endswith("_NUM_THREADS")}
    code = "import engine, numpy, os; print(len(os.listdir('/proc/self/task')))"
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    assert int(done.stdout) == 1
