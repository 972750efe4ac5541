"""The temporary folder from which libespeak-ng reads its data.

Invariant: it exists as long as its process uses it. The folder of a killed process is removed at
the next start, because its lock is free.
"""

import shutil
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir

from filelock import FileLock, Timeout

from engine.errors import ModelError

PREFIX = "rubato-espeak-"
LOCK = "lock"
YOUNG_S = 60.0  # another process may just be about to lock its own


class Workspace:
    """A new folder at `path` that contains only its lock. ModelError when it cannot be created."""

    def __init__(self) -> None:
        try:
            # Windows removes no lock that is held: what is left at an exit, the next start removes
            self._folder = TemporaryDirectory(prefix=PREFIX, ignore_cleanup_errors=True)
        except OSError as error:
            raise ModelError(
                "There is no place for the data of the formant voice: {error}.",
                hint="Make room in the system's folder for temporary files.",
                error=error.strerror or error,
            ) from error
        self.path = Path(self._folder.name)
        # not of a thread: once its owner has ended, another one closes it
        self._lock = FileLock(self.path / LOCK, thread_local=False)
        self._lock.acquire()
        _remove_abandoned(self.path.stat().st_mtime - YOUNG_S)

    def close(self) -> None:
        """Delete the folder."""
        self._lock.release()
        self._folder.cleanup()


def _remove_abandoned(before: float) -> None:
    """Remove unlocked folders that were last changed before the time `before`."""
    for folder in Path(gettempdir()).glob(f"{PREFIX}*"):
        with suppress(OSError, Timeout):
            if folder.lstat().st_mtime < before and not folder.is_symlink():
                with FileLock(folder / LOCK, timeout=0):
                    pass  # it is not taken again once it is free
                shutil.rmtree(folder)
