"""Lets the window be silent while the screen reader speaks: a lock that the speaking process holds.

The system releases the lock when its process ends, so the window never waits for a dead one.
"""

from contextlib import suppress
from pathlib import Path
from typing import Final

from filelock import FileLock, Timeout

from engine.settings_file import data_folder

NAME: Final = "screen-reader.lock"


class OtherVoice:
    """`hold` and `release` are for the voice of the screen reader, `speaks` for the window. `path`
    None: in the person's data folder.
    """

    def __init__(self, path: Path | None = None) -> None:
        self._lock = FileLock(
            path or data_folder() / NAME, timeout=0, mode=0o600, thread_local=False
        )

    def hold(self) -> None:
        """Keep the window silent. It is checked again at the next samples if that fails."""
        with suppress(OSError):
            if not self._lock.is_locked:
                self._lock.acquire()

    def release(self) -> None:
        """Let the window speak again."""
        self._lock.release()

    def speaks(self) -> bool:
        """Return whether the screen reader is speaking."""
        with suppress(OSError):
            try:
                if Path(self._lock.lock_file).exists():
                    self._lock.acquire()
                    self._lock.release()
            except Timeout:
                return True
        return False
