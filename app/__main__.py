"""Start-up: read the arguments and the settings, then open the window or run one command.

Invariant: nothing large is imported before it is known to be needed.
"""

import io
import os
import signal
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

from app.presence import ipc_client

# For a thread that is still busy after the engine has stopped, as with a silent hub.
LAST_WAIT_S = 2.0


def main(arguments: Sequence[str] | None = None) -> int:
    """Run Rubato; returns the exit status."""
    mend_streams()
    words = sys.argv[1:] if arguments is None else arguments
    message = ipc_client.message_of(words)
    return ipc_client.tell(message) if message else _main(words)


def mend_streams() -> None:
    """On Windows a program without a terminal has no streams (they are None), and output to a file
    would be in a regional encoding; then we write UTF-8. On all systems a letter that the terminal
    cannot show becomes a question mark instead of an error.
    """
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            nowhere = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115  as long as we run
            setattr(sys, name, nowhere)
        elif isinstance(stream, io.TextIOWrapper):
            as_file = sys.platform == "win32" and not stream.isatty()
            stream.reconfigure(errors="replace", encoding="utf-8" if as_file else None)


def _main(words: Sequence[str]) -> int:
    """Everything except a single message to the running Rubato."""
    import logging

    from app.command import cli
    from app.command.terminal import LogFormatter, drop_output, tell, writing
    from engine.api import EngineError

    order = cli.parse(words)
    log = logging.StreamHandler()
    log.setFormatter(LogFormatter("%(levelname)s %(name)s: %(message)s"))
    logging.basicConfig(level=order.log_level, handlers=[log])
    # Python's default of 5 ms makes an audio callback wait behind busy threads.
    sys.setswitchinterval(0.001)
    try:
        status = order.run()
        with writing():
            sys.stdout.flush()
    except BrokenPipeError:  # the reader has closed the pipe, as in `rubato models | head`
        drop_output()
        return 0
    except EngineError as error:
        tell(f"rubato: {error.message}")
        if error.hint:
            tell(f"  {error.hint}")
        drop_output()
        return 1
    except OSError as error:
        if error.filename is None:
            raise
        tell(f"rubato: The file {error.filename} cannot be used: {error.strerror}.")
        return 1
    except KeyboardInterrupt:
        return 130
    return status


def start() -> None:
    """The program itself: run, and exit even when a library does not release its thread."""
    # Told to end, a command ends as by Ctrl+C, so that nothing half done stays behind.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    status = main()
    others = (thread for thread in threading.enumerate() if thread is not threading.main_thread())
    for thread in others:
        if not thread.daemon:
            thread.join(LAST_WAIT_S)
            if thread.is_alive():
                sys.stderr.write(f"rubato: {thread.name} is still busy; leaving without it.\n")
                sys.stderr.flush()
                os._exit(status)
    sys.exit(status)


if __name__ == "__main__":
    start()
