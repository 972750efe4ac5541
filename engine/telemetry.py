"""What libraries below would report to their makers, switched off.

Invariant: the switches are set before any of these libraries is imported, whichever way the program
starts: `engine/__init__.py` sets them, and no module here imports a library before that.
"""

import os
from typing import Final

# No choice is asked for and none is taken from outside: nothing is reported.
_SWITCHES: Final = {
    # From 1.29 on it keeps a device id and queues events (machine, program path, model names) for
    # its maker. It decides while its library loads: `disable_telemetry_events()` is too late for
    # the id, the database and the first event (its Privacy.md).
    "ORT_DISABLE_TELEMETRY": "1",
    # huggingface_hub asks the hub how to tell which agent runs it, and tells; hf_xet reports
    # transfers. Both read it once.
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "DO_NOT_TRACK": "1",  # the same wish in general; the two above heed it too
}


def switch_off() -> None:
    """Tell every library that heeds the environment, here and in child processes."""
    os.environ.update(_SWITCHES)
