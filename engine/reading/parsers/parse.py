"""Parse a document in the sandboxed process, which document.py starts; HTML, Markdown, plain text
and Word (DOCX) are read here as a whole.

    parse.py SUFFIX outline|CHAPTER < FILE > JSON

The format is found by content; the suffix only distinguishes Markdown and HTML from plain text. The
result is one JSON object: the outline, the paragraphs of a chapter as [kind, text, sentences], or
"fault".
"""

import json
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any, BinaryIO, Final
from xml.etree.ElementTree import Element

from engine.reading.parsers import blocks, epub
from engine.reading.parsers.archive import Archive, decode
from engine.reading.parsers.blocks import Block, Fault, Kind, Parsed, UnreadableDocument, title_of
from engine.reading.parsers.html import Page, parse_tree

WORD_MAIN: Final = "word/document.xml"
_HEAD: Final = 1024  # bytes that identify the format
_MOST_TEXT: Final = 32 << 20  # bytes of a text, HTML or Markdown file
_MARKDOWN: Final = (".md", ".markdown", ".mdown", ".mkd")
_HTML: Final = (".html", ".htm", ".xhtml", ".xht")
_FRONT_MATTER: Final = re.compile(r"\A---\n.*?\n(?:---|\.\.\.)\n", re.DOTALL)
_WORD_HEADING: Final = re.compile(
    r"(?:heading|berschrift|titre|t[ií]tulo|titolo)\s?([1-6])", re.IGNORECASE
)
_WRAPPED: Final = 100  # characters; longer lines are paragraphs of their own
_PART: Final = 60_000  # characters, an hour; a text without chapters is divided so
_CHAPTER: Final = re.compile(
    r"(?:chapter|part|book|act|scene|kapitel|teil|chapitre|partie|cap[ií]tulo|parte|capitolo)\s+"
    r"(?:\d{1,3}|[ivxlc]+|the\s+\w+|\w+)\b.{0,60}|prologue|epilogue|preface|introduction",
    re.IGNORECASE,
)


def parse_html(text: str) -> Parsed:
    """Read a page, without the menus and the like around its main part."""
    root = parse_tree(text, is_html=True)
    page = root.find(".//html")
    parts = (Page(each).blocks for each in (*root.iter("main"), root))  # some are empty or hidden
    titles = ("".join(each.itertext()) for each in root.iter("title"))
    authors = (each for each in root.iter("meta") if each.get("name", "").lower() == "author")
    return _document(
        next(filter(None, parts), []),
        next(titles, ""),
        author=next((each.get("content", "") for each in authors), ""),
        language="" if page is None else page.get("lang", "") or page.get("xml:lang", ""),
    )


def parse_markdown(text: str) -> Parsed:
    """Read a Markdown text, by way of the HTML that it stands for."""
    from markdown_it import MarkdownIt

    renderer = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    return parse_html(renderer.render(_FRONT_MATTER.sub("", text)))


def parse_word(archive: Archive) -> Parsed:
    """Read a Word document: headings by their style, tables row by row, text boxes behind."""
    return _document(list(_word_blocks(parse_tree(decode(archive.read(WORD_MAIN))))))


def _word_blocks(element: Element) -> Iterator[Block]:
    for child in element:
        if child.tag == "tr":
            cells = (" ".join(each.text for each in _word_blocks(cell)) for cell in child)
            if row := "; ".join(filter(None, cells)):
                yield Block(Kind.TABLE, row)
        elif child.tag == "p":
            styles = child.iterfind("ppr/pstyle")
            named = (_WORD_HEADING.search(each.get("w:val", "")) for each in styles)
            style, boxes = next(named, None), list[Element]()
            if text := blocks.tidy("".join(_word_text(child, boxes))):
                yield Block(
                    Kind.HEADING if style else Kind.TEXT, text, int(style[1]) if style else 0
                )
            for box in boxes:
                yield from _word_blocks(box)
        else:
            yield from _word_blocks(child)


def _word_text(element: Element, boxes: list[Element]) -> Iterator[str]:
    """Yield the text of a paragraph; its text boxes go to `boxes`. A fallback repeats them."""
    for child in element:
        if child.tag == "txbxcontent":
            boxes.append(child)
        elif child.tag == "t":
            yield child.text or ""
        elif child.tag in ("br", "tab"):
            yield " "
        elif child.tag != "fallback":
            yield from _word_text(child, boxes)


def parse_plain(text: str) -> Parsed:
    """Read a plain text: paragraphs between empty lines, chapters at lines such as "Chapter 3"."""
    found = []
    for paragraph in filter(None, _paragraphs(text)):
        heads = _CHAPTER.fullmatch(paragraph) and not paragraph.endswith(",")
        found.append(Block(Kind.HEADING, paragraph, 1) if heads else Block(Kind.TEXT, paragraph))
    if sum(block.kind is Kind.HEADING for block in found) < 2:
        found = _divided(found)
    return _document(found)


def _paragraphs(text: str) -> Iterator[str]:
    for group in re.split(r"\n[ \t]*\n", text):
        lines = group.splitlines()
        if any(len(line) > _WRAPPED for line in lines):
            yield from map(blocks.tidy, lines)
        else:
            yield blocks.tidy(group)


def _divided(found: list[Block]) -> list[Block]:
    """Put a heading with a number before each hour of a long text."""
    if sum(len(block.text) for block in found) <= _PART:
        return found
    result = []
    part, length = 0, _PART
    for block in found:
        if length >= _PART:
            part, length = part + 1, 0
            result.append(Block(Kind.HEADING, str(part), 1))
        result.append(block)
        length += len(block.text)
    return result


def _document(
    found: Sequence[Block], title: str = "", *, author: str = "", language: str = ""
) -> Parsed:
    """Return the document with chapters that begin at its headings of the highest level that occurs
    twice. Without one, all is one chapter. UnreadableDocument if it has no text.
    """
    if not found:
        raise UnreadableDocument(Fault.WITHOUT_TEXT)
    first = found[0].text if found[0].kind is Kind.HEADING else ""
    title = title_of(title) or title_of(first)
    levels = [block.level for block in found if block.kind is Kind.HEADING]
    level = min((each for each in levels if levels.count(each) > 1), default=None)
    chapters: list[tuple[str, list[Block]]] = [(title, [])]
    for block in found:
        content = chapters[-1][1]
        if block.kind is not Kind.HEADING or block.level != level:
            content.append(block)
        elif len(chapters) == 1 and all(each.kind is Kind.HEADING for each in content):
            chapters = [(block.text, [*content, block])]  # it begins with the document's title
        elif len(chapters) < blocks.MOST_CHAPTERS:
            chapters.append((block.text, [block]))
        else:
            content.append(block)
    names = tuple(title_of(name) for name, _ in chapters)
    outline = blocks.Outline(names, title, title_of(author), language)
    return Parsed(outline, lambda index: chapters[index][1])


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
        if WORD_MAIN in archive:
            return parse_word(archive)
        raise UnreadableDocument(Fault.UNKNOWN)
    content = file.read(_MOST_TEXT + 1)
    if len(content) > _MOST_TEXT:
        raise UnreadableDocument(Fault.TOO_LARGE)
    text = decode(content)
    start = text[:_HEAD].lstrip().lower()
    if suffix.lower() in _HTML or start.startswith(("<!doctype html", "<html", "<?xml")):
        return parse_html(text)
    return parse_markdown(text) if suffix.lower() in _MARKDOWN else parse_plain(text)


def answer(file: BinaryIO, suffix: str, request: str) -> dict[str, Any]:
    """Return the object that is printed."""
    try:
        parsed = parse(file, suffix)
        if request != "outline":
            found = parsed.chapter(int(request))
            cut = sum(len(block.text) for block in found) > blocks.MOST_CHARACTERS
            paragraphs = [
                (block.kind, block.text, blocks.sentences(block.text))
                for block in blocks.bounded(found)
            ]
            return {"paragraphs": paragraphs, "cut": cut}
        outline = asdict(parsed.outline)
        return outline | {"chapters": parsed.outline.chapters[: blocks.MOST_CHAPTERS]}
    except UnreadableDocument as error:
        return {"fault": error.fault}
    except (MemoryError, RecursionError):
        return {"fault": Fault.TOO_LARGE}


def main() -> None:
    with open(0, "rb") as file, open(1, "w", encoding="utf-8") as out:  # file descriptors
        json.dump(answer(file, sys.argv[1], sys.argv[2]), out)


if __name__ == "__main__":
    main()
