"""Plain text: paragraphs between empty lines, chapters at lines such as "Chapter 3"."""

import re
from collections.abc import Iterator
from typing import Final

from engine.reading.parsers.blocks import Block, Kind, Parsed, tidy
from engine.reading.parsers.whole import whole_document

_WRAPPED: Final = 100  # characters; longer lines are paragraphs of their own
_PART: Final = 60_000  # characters, an hour; a text without chapters is divided so
_HEADING: Final = re.compile(
    r"(?:chapter|part|book|act|scene|kapitel|teil|chapitre|partie|cap[ií]tulo|parte|capitolo)\s+"
    r"(?:\d{1,3}|[ivxlc]+|the\s+\w+|\w+)\b.{0,60}|prologue|epilogue|preface|introduction",
    re.IGNORECASE,
)


def parse(text: str) -> Parsed:
    """Read a text."""
    blocks = [_block(each) for each in _paragraphs(text) if each]
    if not any(block.kind is Kind.HEADING for block in blocks):
        blocks = _divided(blocks)
    return whole_document(blocks)


def _paragraphs(text: str) -> Iterator[str]:
    for group in re.split(r"\n[ \t]*\n", text):
        lines = group.splitlines()
        if any(len(line) > _WRAPPED for line in lines):
            yield from map(tidy, lines)
        else:
            yield tidy(group)


def _block(paragraph: str) -> Block:
    if _HEADING.fullmatch(paragraph) and not paragraph.endswith(","):
        return Block(Kind.HEADING, paragraph, 1)
    return Block(Kind.TEXT, paragraph)


def _divided(blocks: list[Block]) -> list[Block]:
    """Put a heading with a number before each hour of a long text."""
    if sum(len(block.text) for block in blocks) <= _PART:
        return blocks
    result = []
    part, length = 0, _PART
    for block in blocks:
        if length >= _PART:
            part, length = part + 1, 0
            result.append(Block(Kind.HEADING, str(part), 1))
        result.append(block)
        length += len(block.text)
    return result
