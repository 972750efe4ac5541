"""Parse a document in the sandboxed process, which document.py starts.

    parse.py SUFFIX outline|CHAPTER < FILE > JSON

The format is found by content; the suffix only distinguishes Markdown and HTML from plain text. The
result is one JSON object: the outline, the paragraphs of a chapter as [kind, text, sentences], or
"fault".
"""

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, BinaryIO, Final

from engine.reading.parsers import epub, whole
from engine.reading.parsers.archive import Archive, decode
from engine.reading.parsers.blocks import (
    MOST_CHAPTERS,
    MOST_CHARACTERS,
    Block,
    Fault,
    Parsed,
    UnreadableDocument,
    bounded,
)
from engine.reading.sentences import sentences

_HEAD: Final = 1024  # bytes that identify the format
_MOST_TEXT: Final = 32 << 20  # bytes of a text, HTML or Markdown file
_MARKDOWN: Final = (".md", ".markdown", ".mdown", ".mkd")
_HTML: Final = (".html", ".htm", ".xhtml", ".xht")


def parse(file: BinaryIO, suffix: str) -> Parsed:
    """Open a document of any format. UnreadableDocument."""
    head = file.read(_HEAD)
    file.seek(0)
    if b"%PDF-" in head:
        from engine.reading.parsers import pdf

        return pdf.parse(file)
    if head.startswith(b"PK\x03\x04"):
        archive = Archive(file)
        if epub.MAIN in archive:
            return epub.parse(archive)
        if whole.WORD_MAIN in archive:
            return whole.parse_word(archive)
        raise UnreadableDocument(Fault.UNKNOWN)
    return _parse_text(file, suffix.lower())


def _parse_text(file: BinaryIO, suffix: str) -> Parsed:
    content = file.read(_MOST_TEXT + 1)
    if len(content) > _MOST_TEXT:
        raise UnreadableDocument(Fault.TOO_LARGE)
    text = decode(content)
    start = text[:_HEAD].lstrip().lower()
    if suffix in _HTML or start.startswith(("<!doctype html", "<html", "<?xml")):
        return whole.parse_html(text)
    return whole.parse_markdown(text) if suffix in _MARKDOWN else whole.parse_plain(text)


def answer(file: BinaryIO, suffix: str, request: str) -> dict[str, Any]:
    """Return the object that is printed."""
    try:
        parsed = parse(file, suffix)
        if request != "outline":
            blocks = parsed.chapter(int(request))
            cut = sum(len(block.text) for block in blocks) > MOST_CHARACTERS
            return {"paragraphs": _paragraphs(blocks), "cut": cut}
        outline = asdict(parsed.outline)
        return outline | {"chapters": parsed.outline.chapters[:MOST_CHAPTERS]}
    except UnreadableDocument as error:
        return {"fault": error.fault}
    except (MemoryError, RecursionError):
        return {"fault": Fault.TOO_LARGE}


def _paragraphs(blocks: Sequence[Block]) -> list[Any]:
    return [[block.kind, block.text, sentences(block.text)] for block in bounded(blocks)]


def main() -> None:
    with open(0, "rb") as file, open(1, "w", encoding="utf-8") as out:  # file descriptors
        json.dump(answer(file, sys.argv[1], sys.argv[2]), out)


if __name__ == "__main__":
    main()
