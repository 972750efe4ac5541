"""The engine: hears, thinks and speaks. No Qt anywhere below this package.

Importing it does three things, the only such effects in the project: it switches telemetry off
(ONNX Runtime decides while it is loaded), keeps numpy's products on one thread, and defers modules
that a start does not need. This file runs before the engine's modules however the program starts.
"""

import os

from engine import telemetry
from engine.machine import deferred


def _keep_numpy_on_one_thread() -> None:
    """Its second one waits by spinning: Kokoro took 0.52 of the time of its sound, alone 0.28."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


telemetry.switch_off()
_keep_numpy_on_one_thread()
deferred.defer()
