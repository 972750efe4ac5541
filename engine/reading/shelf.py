"""Documents that were read before, each with its place.

Invariant: the file is replaced as a whole, so it survives a crash; only its owner can read it. A
document is found by its content, so a moved file keeps its place.
"""

import json
import logging
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from filelock import FileLock

from engine import settings_file
from engine.atomic_write import replace_file
from engine.errors import InvalidInput
from engine.messages.reading import Place, ReadDocument
from engine.reading.document import Document

log = logging.getLogger(__name__)

MOST_ENTRIES: Final = 500  # the oldest are forgotten
_MOST_BYTES: Final = 4 << 20
_DAMAGED: Final = (OSError, ValueError, TypeError, LookupError, OverflowError, RecursionError)
_WAIT_S: Final = 5.0  # for another Rubato that writes at the same moment


class Shelf:
    """The list of documents on disk. Every method may be called from any thread."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def entries(self) -> tuple[ReadDocument, ...]:
        """Return all documents, the last one read first."""
        return tuple(sorted(self._load(), key=lambda entry: -entry.read_at))

    def place(self, key: str) -> Place:
        """Return the place in a document; its beginning if it was not read before."""
        return next((entry.place for entry in self._load() if entry.key == key), Place())

    def save_place(self, document: Document, place: Place, read_at: float) -> None:
        """Save the place in a document. InvalidInput if the disk refuses."""
        entry = ReadDocument(
            document.key,
            document.title,
            document.author,
            document.path,
            place,
            read_at,
            document.chapter_titles[place.chapter],
            len(document.chapter_titles),
        )
        self._change(lambda entries: [entry, *(each for each in entries if each.key != entry.key)])

    def remove(self, key: str) -> None:
        """Forget a document. The document's file stays."""
        self._change(lambda entries: [each for each in entries if each.key != key])

    def _change(self, change: Callable[[list[ReadDocument]], list[ReadDocument]]) -> None:
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            with FileLock(self._path.with_suffix(".lock"), timeout=_WAIT_S):
                entries = sorted(change(self._load()), key=lambda entry: -entry.read_at)
                text = json.dumps([_as_json(entry) for entry in entries[:MOST_ENTRIES]], indent=1)
                replace_file(self._path, text)
        except OSError as error:  # also a lock that is not free in time
            raise InvalidInput(
                "The place in the document cannot be saved ({error}).",
                hint="Make room on the disk, and check that you may write to {path}.",
                error=error.strerror or error,
                path=self._path.parent,
            ) from error

    def _load(self) -> list[ReadDocument]:
        try:
            with self._path.open("rb") as file:
                return [_from_json(each) for each in json.loads(file.read(_MOST_BYTES))]
        except FileNotFoundError:
            return []
        except _DAMAGED as error:
            log.warning("The list of documents %s is damaged: %s.", self._path, error)
            with suppress(OSError):  # a copy for the person; a new list begins
                self._path.replace(self._path.with_suffix(".damaged"))
            return []


def default_path() -> Path:
    return settings_file.data_folder() / "reading" / "documents.json"


def _as_json(entry: ReadDocument) -> dict[str, Any]:
    place = entry.place
    return {
        **vars(entry),
        "path": str(entry.path),
        "place": [place.chapter, place.paragraph, place.word],
    }


def _from_json(given: dict[str, Any]) -> ReadDocument:
    chapter, paragraph, word = (max(0, int(each)) for each in given["place"])
    return ReadDocument(
        str(given["key"]),
        str(given["title"]),
        str(given["author"]),
        Path(given["path"]),
        Place(chapter, paragraph, word),
        float(given["read_at"]),
        str(given["chapter"]),
        int(given["chapters"]),
    )
