"""Switch off the telemetry of libraries.

Invariant: the switches are set before any of these libraries is imported, however the program
starts: `engine/__init__.py` sets them, and no module here imports a library before that.
"""

import os
from typing import Final

# Neither a setting nor the environment can change them: nothing is reported.
_SWITCHES: Final = {
    # From 1.29 on it keeps a device id and queues events (machine, program path, model names) for
    # its maker. It decides while its library loads: `disable_telemetry_events()` is too late for
    # the id, the database and the first event (its Privacy.md).
    "ORT_DISABLE_TELEMETRY": "1",
    # huggingface_hub asks the hub how to detect the agent that runs it, and reports it; hf_xet
    # reports transfers. Both read it once.
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "DO_NOT_TRACK": "1",  # the same in general; the two above follow it too
}


def switch_off() -> None:
    """Set the environment variables that disable telemetry, here and in child processes."""
    os.environ.update(_SWITCHES)
