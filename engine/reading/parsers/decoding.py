"""Bytes of a text, HTML or XML file as characters."""

import codecs
import re
from typing import Final

from engine.reading.parsers.blocks import Fault, UnreadableDocument

_BOMS: Final = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_DECLARED: Final = re.compile(
    rb"<\?xml[^>]{0,200}encoding\s*=\s*[\"']([\w-]{1,40})|<meta[^>]{0,200}charset\s*=\s*[\"']?([\w-]{1,40})",
    re.IGNORECASE,
)


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
