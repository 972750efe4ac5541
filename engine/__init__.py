"""The engine: hears, thinks and speaks. No Qt anywhere below this package.

Importing it does three things, the only such effects in the project: it switches the telemetry of
libraries off, keeps numpy's products on one thread, and defers modules that a start does not need.
This file runs before the engine's modules however the program starts. Invariant: no module here
imports a library before that.
"""

import os
from typing import Final

from engine import deferred

# Neither a setting nor the environment can change them: nothing is reported, here and in child
# processes.
_TELEMETRY: Final = {
    # From 1.29 on ONNX Runtime keeps a device id and queues events (machine, program path, model
    # names) for its maker. It decides while its library loads: `disable_telemetry_events()` is too
    # late for the id, the database and the first event (its Privacy.md).
    "ORT_DISABLE_TELEMETRY": "1",
    # huggingface_hub asks the hub how to detect the agent that runs it, and reports it; hf_xet
    # reports transfers. Both read it once.
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "DO_NOT_TRACK": "1",  # the same in general; the two above follow it too
}


def _set_environment() -> None:
    """Switch telemetry off, and keep numpy on one thread: its second one waits by spinning. Kokoro
    took 0.52 of the time of its sound with it, alone 0.28.
    """
    os.environ.update(_TELEMETRY)
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


_set_environment()
deferred.defer()
