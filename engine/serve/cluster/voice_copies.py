"""The person's voices on every machine of a cluster, by the content of their files.

Invariant: a voice that a machine has already is never written over. One that has the same name and
another content stops the replica, because then a name would not mean the same voice everywhere.
"""

from collections.abc import Mapping
from pathlib import Path

from engine.atomic_write import replace_file
from engine.errors import ModelError
from engine.tts import voices

Copies = Mapping[str, bytes]  # a voice's file: its name and its content


def copies(folder: Path | None = None) -> Copies:
    """The voices of a folder; None = the person's."""
    files = voices.saved_voices(voices.folder() if folder is None else folder)
    return {file.path.name: file.path.read_bytes() for file in files}


def keep(wanted: Copies, folder: Path | None = None) -> None:
    """Write those that the folder lacks (None = the person's). ModelError when it has another of
    that name.
    """
    place = voices.folder() if folder is None else folder
    for name, content in wanted.items():
        path = place / Path(name).name
        if not path.is_file():
            place.mkdir(parents=True, exist_ok=True)
            replace_file(path, content)
        elif path.read_bytes() != content:
            raise ModelError(
                "There is another voice {file} on this machine already.",
                hint="Rename one of them.",
                file=path.name,
            )
