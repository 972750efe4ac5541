"""Documents that are parsed as a whole: HTML, Markdown, plain text and DOCX."""

from collections.abc import Sequence

from engine.reading.parsers.blocks import (
    Block,
    Fault,
    Kind,
    Outline,
    Parsed,
    UnreadableDocument,
    split_at_headings,
    title_of,
)


def whole_document(
    blocks: Sequence[Block], title: str = "", *, author: str = "", language: str = ""
) -> Parsed:
    """Return the document with chapters that begin at its headings. UnreadableDocument if it has no
    text.
    """
    if not blocks:
        raise UnreadableDocument(Fault.WITHOUT_TEXT)
    first = blocks[0].text if blocks[0].kind is Kind.HEADING else ""
    title = title_of(title) or title_of(first)
    chapters = split_at_headings(blocks, title)
    names = tuple(name for name, _ in chapters)
    outline = Outline(names, title, title_of(author), language)
    return Parsed(outline, lambda index: chapters[index][1])
