"""Time limit for calls of PortAudio that may never return.

Invariant: an abandoned stream is never used again, and PortAudio is not terminated.

On ALSA, a device that disappears at the wrong moment can block a call for ever:
- between the opening and the start: PortAudio's own thread ends silently and keeps a lock for which
  Pa_StartStream waits (PortAudio #535, in every release up to 19.7). Aborting or closing that
  stream, or terminating PortAudio as sounddevice does at exit, then crashes the process: an
  assertion on the lock.
- while its samples are fetched: that thread loops, printing an error each time, and Pa_AbortStream
  waits for it (PortAudio #1037, mended after 19.7). One core stays busy until the program restarts.

Other streams can be opened and closed as before. Both happen when a sound server crashes or a card
is pulled out under load; tests/engine/audio/devices/test_time_limit.py makes the first.
"""

import atexit
import importlib
import logging
import os
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future

log = logging.getLogger(__name__)

_LIMIT_S = 5.0  # PortAudio itself gives a slow driver one second to start
_left_behind: list[object] = []  # kept, or their memory would be freed under the waiting thread


def any_left_behind() -> bool:
    """Return whether PortAudio can no longer be terminated, nor its list of devices updated."""
    return bool(_left_behind)


def within_limit(call: Callable[[], object]) -> None:
    """Call a method of a stream, for 5 s at most. For one thread at a time.

    TimeoutError if it takes longer: the stream is abandoned. Errors of the call are passed on.
    Without ALSA there is no limit.
    """
    if not sys.platform.startswith("linux"):
        call()
        return
    outcome: Future[object] = Future()

    def run() -> None:
        try:
            outcome.set_result(call())
        except Exception as error:  # noqa: BLE001  raised by the waiting thread
            outcome.set_exception(error)

    # A daemon: the interpreter could not exit if it joined a thread that waits for ever.
    threading.Thread(target=run, name="call of PortAudio", daemon=True).start()
    try:
        outcome.result(_LIMIT_S)
    except TimeoutError:
        log.warning("PortAudio does not return; start Rubato again to use what is connected later")
        _left_behind.append(call)
        atexit.unregister(importlib.import_module("sounddevice")._exit_handler)
        _silence_libraries()
        raise


def _silence_libraries() -> None:
    """Stop all output of libraries to standard error: an error printed in a loop fills disks."""
    sys.stderr.flush()
    kept, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    os.close(nowhere)
    sys.stderr = os.fdopen(kept, "w", buffering=1, errors="backslashreplace")
