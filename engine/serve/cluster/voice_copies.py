"""Copies of the user's voices for every machine of a cluster, as file content.

Invariant: an existing voice is never overwritten. A voice with the same name and other content
stops the replica, because a name must mean the same voice everywhere.
"""

from collections.abc import Mapping
from pathlib import Path

from engine.atomic_write import replace_file
from engine.errors import ModelError
from engine.tts import voices

Copies = Mapping[str, bytes]  # a voice's file: its name and its content


def copies(folder: Path | None = None) -> Copies:
    """Return the voices of a folder; None = the user's."""
    files = voices.saved_voices(voices.folder() if folder is None else folder)
    return {file.path.name: file.path.read_bytes() for file in files}


def keep(wanted: Copies, folder: Path | None = None) -> None:
    """Write the voices that the folder lacks (None = the user's). ModelError if it has a different
    voice of that name.
    """
    place = voices.folder() if folder is None else folder
    for name, content in wanted.items():
        path = place / Path(name).name
        if not path.is_file():
            place.mkdir(parents=True, exist_ok=True)
            replace_file(path, content)
        elif path.read_bytes() != content:
            raise ModelError(
                "A different voice {file} exists on this machine.",
                hint="Rename one of them.",
                file=path.name,
            )
