"""Bounded reading of ZIP archives, which EPUB and DOCX are, and the characters of bytes.

Invariant: nothing is written to disk, so a name in an archive is only a key; a member is
decompressed up to a limit, and archives within archives are not opened.
"""

import codecs
import re
import zipfile
import zlib
from typing import BinaryIO, Final

from engine.reading.parsers.blocks import Fault, UnreadableDocument

MOST_MEMBERS: Final = 50_000
MOST_BYTES: Final = 24 << 20  # of a member: a chapter of 24 MB would take a week
_BROKEN: Final = (zipfile.BadZipFile, zlib.error, EOFError, OSError, NotImplementedError)
_BOMS: Final = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_DECLARED: Final = re.compile(
    rb"<\?xml[^>]{0,200}encoding\s*=\s*[\"']([\w-]{1,40})|<meta[^>]{0,200}charset\s*=\s*[\"']?([\w-]{1,40})",
    re.IGNORECASE,
)


class Archive:
    """An open archive."""

    def __init__(self, file: BinaryIO) -> None:
        """UnreadableDocument if it is damaged or has too many members."""
        try:
            self._zip = zipfile.ZipFile(file)
        except (*_BROKEN, ValueError) as error:
            raise UnreadableDocument(Fault.DAMAGED) from error
        if len(self._zip.namelist()) > MOST_MEMBERS:
            raise UnreadableDocument(Fault.TOO_LARGE)
        self._names = frozenset(self._zip.namelist())

    def __contains__(self, name: str) -> bool:
        return name in self._names

    def read(self, name: str) -> bytes:
        """Return the content of a member, empty if there is none. UnreadableDocument."""
        if name not in self._names:
            return b""
        try:
            with self._zip.open(name) as member:
                content = member.read(MOST_BYTES + 1)
        except RuntimeError as error:  # how zipfile reports a password
            raise UnreadableDocument(Fault.ENCRYPTED) from error
        except _BROKEN as error:
            raise UnreadableDocument(Fault.DAMAGED) from error
        if len(content) > MOST_BYTES:
            raise UnreadableDocument(Fault.TOO_LARGE)
        return content


def decode(content: bytes) -> str:
    """Return the characters, by byte-order mark, declaration, or UTF-8; else as older Windows
    editors wrote them. UnreadableDocument for bytes that are not text.
    """
    for bom, encoding in _BOMS:
        if content.startswith(bom):
            return content[len(bom) :].decode(encoding, "replace").replace("\0", "")
    if b"\0" in content:
        raise UnreadableDocument(Fault.UNKNOWN)
    declared = _DECLARED.search(content[:2048])
    names = [(declared[1] or declared[2]).decode()] if declared else []
    for name in ("utf-8", *names):
        try:
            return content.decode(name)
        except (UnicodeError, LookupError):
            continue
    broken = content.decode("utf-8", "replace")
    if broken.count("\ufffd") * 100 < len(broken):  # UTF-8 with a few broken bytes
        return broken.replace("\ufffd", "")
    return content.decode("cp1252", "replace").replace("\ufffd", "")
