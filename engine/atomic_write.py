"""Replace a file as a whole.

Invariant: after an error or a crash the file has its old or its new content, never a part of it.
"""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path


@contextmanager
def replacement(path: Path, *, mode: int | None = None) -> Iterator[Path]:
    """Yield an empty file beside `path`, which replaces it when the body ends; with these
    permissions (None = for its owner only). OSError if the disk refuses.
    """
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".rubato-", suffix=".part")  # 0600
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        with temporary.open("rb+") as file:
            os.fsync(file.fileno())
        if mode is not None:
            temporary.chmod(mode)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def replace_file(path: Path, content: str | bytes, *, mode: int | None = None) -> None:
    """Give a file new content (text as UTF-8); its folder must exist. See replacement()."""
    with replacement(path, mode=mode) as temporary:
        temporary.write_bytes(content.encode() if isinstance(content, str) else content)


def unused_name(path: Path, why: str = "damaged") -> Path:
    """Return the first unused name beside `path` under which its content can be kept."""
    names = (path.with_name(f"{path.stem}.{why}-{n}{path.suffix}") for n in count(1))
    return next(name for name in names if not name.exists())
