"""Open a document and read its chapters when they are needed.

Invariant: every parser runs in the sandboxed process, so no document can cost more than its limits,
and a crash is an ordinary fault of the file. A document is known by the SHA-256 of its content: a
moved file is the same document.
"""

import hashlib
import json
import os
import re
import stat
import tempfile
from collections.abc import Callable, Mapping
from functools import lru_cache
from io import FileIO
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from engine import sandbox
from engine.errors import InvalidInput
from engine.languages import ENGLISH, SPOKEN
from engine.messages.reading import Chapter, Paragraph, Place
from engine.reading.parsers import parse
from engine.reading.parsers.blocks import Fault, Kind, title_of
from engine.text.tables import section
from engine.translatable import Translatable

MOST_BYTES: Final = 400 << 20
LONGEST_S: Final = 60.0  # for one request to the parser
_KEPT: Final = 3  # chapters in memory
_NO_WAIT: Final = getattr(os, "O_NONBLOCK", 0)
_FORMATS: Final = Translatable("Choose an EPUB, PDF, HTML, Markdown, DOCX or text file.")
_FAULTS: Final[Mapping[str, tuple[Translatable, Translatable]]] = MappingProxyType(
    {
        Fault.UNKNOWN: (
            Translatable("The file is not a document that can be read aloud."),
            _FORMATS,
        ),
        Fault.DAMAGED: (
            Translatable("The document is damaged."),
            Translatable("Get it again, or choose another file."),
        ),
        Fault.ENCRYPTED: (
            Translatable("The document is protected by a password."),
            Translatable("Save a copy without a password, and open that."),
        ),
        Fault.COPY_PROTECTED: (
            Translatable("The book is protected against copying (DRM)."),
            Translatable("Choose a book without such a protection."),
        ),
        Fault.WITHOUT_TEXT: (Translatable("The document contains no text."), _FORMATS),
        Fault.SCAN: (
            Translatable("The pages of the document are pictures: they contain no text."),
            Translatable("Run a text recognition (OCR) program on it, and open its result."),
        ),
        Fault.TOO_LARGE: (
            Translatable("The document is too large."),
            Translatable("Split it, or choose another file."),
        ),
    }
)


class Document:
    """A document that was opened. Empty `title`, `author`: it does not state them. `language`: its
    code of ISO 639-1, None = not stated.
    """

    def __init__(self, path: Path, identity: tuple[int, ...], key: str, outline: Any) -> None:
        self.path = path
        self.key = key
        self.title: str = outline["title"] or title_of(path.stem)
        self.author: str = outline["author"]
        code: str = re.split("[-_]", outline["language"].strip().lower())[0]
        self.language = code if len(code) == 2 and code.isalpha() else None
        titles: list[str] = outline["chapters"]
        self.chapter_titles = tuple(title or self.title for title in titles)
        self._said = section("documents", code if code in SPOKEN else ENGLISH)
        self._identity = identity
        # Returns a chapter; takes a tenth of a second or more unless it is one of the last. From
        # any thread. InvalidInput if the file is gone or has changed.
        self.chapter: Callable[[int], Chapter] = lru_cache(_KEPT)(self._parse)

    def existing(self, place: Place) -> Place:
        """Return the place, or the beginning of the document if its chapter does not exist."""
        return place if place.chapter < len(self.chapter_titles) else Place()

    def _parse(self, index: int) -> Chapter:
        with _open(self.path) as file:
            if _identity(file) != self._identity:
                raise InvalidInput(
                    "The file '{name}' has changed.", hint="Open it again.", name=self.path.name
                )
            found = _ask(self.path, file, str(index))
        paragraphs = [self._paragraph(*each) for each in found["paragraphs"]]
        if found["cut"]:
            paragraphs.append(Paragraph(self._said["cut"]))
        return Chapter(self.chapter_titles[index], tuple(paragraphs))

    def _paragraph(self, kind: str, text: str, sentences: list[list[int]]) -> Paragraph:
        if kind == Kind.CODE:
            text = self._said["line" if text == "1" else "code"].format(lines=text)
            return Paragraph(text, Kind.CODE, ((0, len(text.split())),))
        return Paragraph(text, Kind(kind), tuple((first, last) for first, last in sentences))


def open_document(path: Path) -> Document:
    """Open a document of any format. InvalidInput says why it cannot be read."""
    with _open(path) as file:
        identity = _identity(file)
        key = hashlib.file_digest(file, "sha256").hexdigest()
        file.seek(0)
        outline = _ask(path, file, "outline")
    return Document(path.absolute(), identity, key, outline)


def _open(path: Path) -> FileIO:
    """Open a regular file of bounded size, however it is named. A pipe does not block."""
    try:
        # The child shares its position.
        file = FileIO(path, opener=lambda name, flags: os.open(name, flags | _NO_WAIT))
    except (OSError, ValueError) as error:  # ValueError: a name with a zero byte
        raise InvalidInput(
            "The file '{name}' cannot be opened ({error}).",
            hint="Choose another file.",
            name=path.name,
            error=getattr(error, "strerror", None) or error,
        ) from error
    status = os.fstat(file.fileno())
    if stat.S_ISREG(status.st_mode) and 0 < status.st_size <= MOST_BYTES:
        return file
    file.close()
    if not stat.S_ISREG(status.st_mode):
        raise InvalidInput("'{name}' is not a regular file.", hint=_FORMATS, name=path.name)
    if not status.st_size:
        raise InvalidInput("The file '{name}' is empty.", hint=_FORMATS, name=path.name)
    raise _fault(Fault.TOO_LARGE)


def _identity(file: FileIO) -> tuple[int, ...]:
    status = os.fstat(file.fileno())
    return status.st_size, status.st_mtime_ns


def _ask(path: Path, file: FileIO, request: str) -> Any:
    """Return the parser's answer to a request."""
    with tempfile.TemporaryFile() as result:
        try:
            words = (path.suffix, request)
            status = sandbox.run(parse.__file__, words, (file, result), seconds=LONGEST_S)
        except sandbox.TookTooLong as error:
            raise _fault(Fault.TOO_LARGE) from error
        if status:  # the parser crashed, or exceeded a limit
            raise _fault(Fault.DAMAGED)
        result.seek(0)
        try:
            answer = json.loads(result.read())
        except ValueError as error:
            raise _fault(Fault.DAMAGED) from error
    if "fault" in answer:
        raise _fault(answer["fault"])
    return answer


def _fault(fault: str) -> InvalidInput:
    message, hint = _FAULTS[fault]
    return InvalidInput(message, hint=hint)
