"""All that was kept in one file, to read or to work on.

Invariant: as in engine.export: the file is complete or not there. One conversation is in memory at
a time.
"""

from collections.abc import Iterator
from pathlib import Path

from engine.errors import InvalidInput
from engine.export import documents
from engine.export.files import put
from engine.history.store import Store
from engine.translatable import Translatable

_WRITERS = {".txt": documents.plain, ".md": documents.markdown}
SUFFIXES = (*_WRITERS, ".json")


def write_all(store: Store, path: Path) -> int:
    """Write the format that the suffix names; returns how many conversations. InvalidInput when it
    names none, when nothing was kept, or when the file cannot be written.
    """
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise InvalidInput(
            "Conversations cannot be written as '{suffix}'.",
            hint=Translatable(
                "Give the file a name that ends in {suffixes} or {suffix}.",
                suffixes=", ".join(SUFFIXES[:-1]),
                suffix=SUFFIXES[-1],
            ),
            suffix=path.suffix or path.name,
        )
    ids = store.ids()
    if not ids:
        raise InvalidInput("No conversation was kept.", hint="Have them kept, and talk first.")
    put(path, _as_json(store, ids) if suffix == ".json" else _as_text(store, ids, suffix))
    return len(ids)


def _as_text(store: Store, ids: tuple[int, ...], suffix: str) -> Iterator[str]:
    for each in ids:
        yield _WRITERS[suffix](store.read(each)) + "\n"


def _as_json(store: Store, ids: tuple[int, ...]) -> Iterator[str]:
    """Each as it is exported alone."""
    yield f'{{"format": "rubato conversations", "version": {documents.VERSION}, "conversations": ['
    for number, each in enumerate(ids):
        yield (",\n" if number else "\n") + documents.as_json(store.read(each)).rstrip()
    yield "\n]}\n"
