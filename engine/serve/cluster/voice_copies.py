"""The person's voices on every machine of a cluster, by what is in their files.

Invariant: a voice that a machine has already is never written over. One that has the same name and
another content stops the replica, because then a name would not mean the same voice everywhere.
"""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from engine.atomic_write import replace_file
from engine.errors import ModelError
from engine.tts import voices


@dataclass(frozen=True)
class VoiceCopy:
    """A voice's file; `digest` is the SHA-256 of `content`."""

    file_name: str
    digest: str
    content: bytes


def copies(folder: Path | None = None) -> tuple[VoiceCopy, ...]:
    """The voices of a folder; None = the person's."""
    files = voices.saved_voices(voices.folder() if folder is None else folder)
    return tuple(_copy(file.path) for file in files)


def keep(wanted: Iterable[VoiceCopy], folder: Path | None = None) -> None:
    """Write those that the folder lacks (None = the person's). ModelError when it has another of
    that name, or a copy is damaged.
    """
    place = voices.folder() if folder is None else folder
    for copy in wanted:
        path = place / Path(copy.file_name).name
        if _digest(copy.content) != copy.digest:
            raise ModelError("The copy of the voice {file} is damaged.", file=path.name)
        if not path.is_file():
            place.mkdir(parents=True, exist_ok=True)
            replace_file(path, copy.content)
        elif _digest(path.read_bytes()) != copy.digest:
            raise ModelError(
                "There is another voice {file} on this machine already.",
                hint="Rename one of them.",
                file=path.name,
            )


def _copy(path: Path) -> VoiceCopy:
    content = path.read_bytes()
    return VoiceCopy(path.name, _digest(content), content)


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
