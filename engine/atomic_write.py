"""Replace a small state file as a whole.

Invariant: after an error or a crash the file has its old or its new content, never a part of it.
"""

import os
import tempfile
from pathlib import Path


def replace_file(path: Path, content: str | bytes, *, mode: int | None = None) -> None:
    """Give a file new content (text as UTF-8) with these permissions (None = for its owner only);
    its folder must exist. OSError if the disk refuses; then the old file is unchanged.
    """
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".rubato-", suffix=".part")  # 0600
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content.encode() if isinstance(content, str) else content)
            file.flush()
            os.fsync(file.fileno())
        if mode is not None:
            temporary.chmod(mode)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
