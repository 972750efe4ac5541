"""Lets the window be silent while the screen reader speaks: a lock that the speaking process holds.

The system releases the lock when its process ends, so the window never waits for a dead one. A
system without such locks (Windows) has no speech-dispatcher either.
"""

import os
from contextlib import suppress
from pathlib import Path
from typing import Final

from engine.settings_file import data_folder

NAME: Final = "screen-reader.lock"


class OtherVoice:
    """`hold` and `release` are for the voice of the screen reader, `speaks` for the window. `path`
    None: in the person's data folder.
    """

    def __init__(self, path: Path | None = None) -> None:
        self._path = path or data_folder() / NAME
        self._file: int | None = None
        self._held = False

    def hold(self) -> None:
        """Keep the window silent. It is checked again at the next samples if that fails."""
        if not self._held:
            self._held = self._lock(os.O_RDWR | os.O_CREAT, exclusive=True)

    def release(self) -> None:
        """Let the window speak again."""
        self.close()

    def speaks(self) -> bool:
        """Return whether the screen reader is speaking."""
        free = self._lock(os.O_RDONLY, exclusive=False)
        is_there = self._file is not None
        self.close()
        return is_there and not free

    def close(self) -> None:
        if self._file is not None:
            os.close(self._file)
        self._file, self._held = None, False

    def _lock(self, flags: int, *, exclusive: bool) -> bool:
        """Try to take the lock without waiting."""
        with suppress(ImportError, OSError):
            import fcntl

            if self._file is None:
                if exclusive:
                    self._path.parent.mkdir(parents=True, exist_ok=True)
                self._file = os.open(self._path, flags, 0o600)
            kind = fcntl.LOCK_EX if exclusive else fcntl.LOCK_SH
            fcntl.flock(self._file, kind | fcntl.LOCK_NB)
            return True
        return False
