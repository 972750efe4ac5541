"""Documents that are parsed as a whole: HTML, Markdown, plain text and Word (DOCX)."""

import re
from collections.abc import Iterator, Sequence
from typing import Final
from xml.etree.ElementTree import Element

from engine.reading.parsers.archive import Archive, decode
from engine.reading.parsers.blocks import (
    MOST_CHAPTERS,
    Block,
    Fault,
    Kind,
    Outline,
    Parsed,
    UnreadableDocument,
    tidy,
    title_of,
)
from engine.reading.parsers.html import Page, parse_tree

WORD_MAIN: Final = "word/document.xml"
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
    """Read a Word document: headings by their style, tables row by row, text boxes behind their
    paragraphs.
    """
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
            if text := tidy("".join(_word_text(child, boxes))):
                yield Block(
                    Kind.HEADING if style else Kind.TEXT, text, int(style[1]) if style else 0
                )
            for box in boxes:
                yield from _word_blocks(box)
        else:
            yield from _word_blocks(child)


def _word_text(element: Element, boxes: list[Element]) -> Iterator[str]:
    """Yield the text of a paragraph, and add its text boxes to `boxes`. A fallback, for older
    programs, repeats a text box.
    """
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
    blocks = [_block(each) for each in _paragraphs(text) if each]
    if sum(block.kind is Kind.HEADING for block in blocks) < 2:
        blocks = _divided(blocks)
    return _document(blocks)


def _paragraphs(text: str) -> Iterator[str]:
    for group in re.split(r"\n[ \t]*\n", text):
        lines = group.splitlines()
        if any(len(line) > _WRAPPED for line in lines):
            yield from map(tidy, lines)
        else:
            yield tidy(group)


def _block(paragraph: str) -> Block:
    if _CHAPTER.fullmatch(paragraph) and not paragraph.endswith(","):
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


def _document(
    blocks: Sequence[Block], title: str = "", *, author: str = "", language: str = ""
) -> Parsed:
    """Return the document with chapters that begin at its headings. UnreadableDocument if it has no
    text.
    """
    if not blocks:
        raise UnreadableDocument(Fault.WITHOUT_TEXT)
    first = blocks[0].text if blocks[0].kind is Kind.HEADING else ""
    title = title_of(title) or title_of(first)
    chapters = _split_at_headings(blocks, title)
    names = tuple(name for name, _ in chapters)
    outline = Outline(names, title, title_of(author), language)
    return Parsed(outline, lambda index: chapters[index][1])


def _split_at_headings(blocks: Sequence[Block], title: str) -> list[tuple[str, list[Block]]]:
    """Return (title, paragraphs) of the chapters: they begin at the highest level of headings that
    occurs twice. Without one, all is one chapter with the document's title.
    """
    levels = [block.level for block in blocks if block.kind is Kind.HEADING]
    level = min((each for each in levels if levels.count(each) > 1), default=None)
    chapters: list[tuple[str, list[Block]]] = [(title, [])]
    for block in blocks:
        if block.kind is Kind.HEADING and block.level == level and len(chapters) < MOST_CHAPTERS:
            content = chapters[-1][1]
            if len(chapters) == 1 and all(each.kind is Kind.HEADING for each in content):
                chapters = [(block.text, content)]  # it begins with the document's title
            else:
                chapters.append((block.text, []))
        chapters[-1][1].append(block)
    return [(title_of(name), content) for name, content in chapters]
