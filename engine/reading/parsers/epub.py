"""EPUB 2 and 3: chapters by the table of contents, text in the order of the spine.

Invariant: a chapter reads only the files it needs, so a long book opens quickly.
"""

import posixpath
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final
from urllib.parse import unquote
from xml.etree.ElementTree import Element

from engine.reading.parsers import blocks
from engine.reading.parsers.archive import Archive, decode
from engine.reading.parsers.blocks import Block, Fault, Kind, Parsed, UnreadableDocument, title_of
from engine.reading.parsers.html import Page, parse_tree

_FONT_OBFUSCATION: Final = frozenset(
    ("http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#rc")
)
_SPARSE: Final = 4  # files of the spine for each entry: with more, the table leaves files out
_TOP: Final = 8_000  # characters of a file in which its title stands
MAIN: Final = "META-INF/container.xml"
_ENOUGH: Final = 4  # chapters: with fewer entries of the first level, deeper ones are some too


@dataclass(frozen=True)
class _Entry:
    """An entry of the table of contents: a file of the spine and an element in it ("" = its first).
    `depth`: 0 = the outermost.
    """

    title: str
    file: int
    fragment: str = ""
    depth: int = 0


class _Book:
    """An open EPUB."""

    def __init__(self, archive: Archive) -> None:
        self._archive = archive
        encrypted = self._tree("META-INF/encryption.xml").iter("encryptionmethod")
        methods = {each.get("algorithm", "").lower() for each in encrypted}
        if "META-INF/license.lcpl" in archive or methods - _FONT_OBFUSCATION:
            raise UnreadableDocument(Fault.COPY_PROTECTED)
        container = self._tree(MAIN).find(".//rootfile")
        package = "" if container is None else container.get("full-path", "")
        root, folder = self._tree(package), posixpath.dirname(package)
        items = list(root.iter("item"))
        paths = {each.get("id"): _path(folder, each.get("href", "")) for each in items}
        spine = [each for each in root.iter("itemref") if each.get("linear") != "no"]
        found = (paths.get(each.get("idref"), "") for each in spine)
        self._files = list(dict.fromkeys(path for path in found if path in archive))
        if not self._files:
            raise UnreadableDocument(Fault.DAMAGED)
        tables = [each for each in items if "nav" in each.get("properties", "")]
        ncx = "application/x-dtbncx+xml"
        tables += [each for each in items if each.get("media-type") == ncx]
        self._starts = self._chapter_starts([paths[each.get("id")] for each in tables])
        facts = (_text(root.find(f".//{name}")) for name in ("title", "creator", "language"))
        self.outline = blocks.Outline(tuple(start.title for start in self._starts), *facts)

    def chapter(self, index: int) -> list[Block]:
        """Return the paragraphs from the start of a chapter to the start of the next one."""
        start = self._starts[index]
        end = [*self._starts, _Entry("", len(self._files))][index + 1]
        found: list[Block] = []
        for number in range(start.file, min(end.file + bool(end.fragment), len(self._files))):
            text = self._content(self._files[number])
            page = Page(parse_tree(text, is_html=True), {start.fragment, end.fragment} - {""})
            first = self._position(index, page) if number == start.file else 0
            last = self._position(index + 1, page) if number == end.file else len(page.blocks)
            found += page.blocks[first:last]
        return found

    def _position(self, index: int, page: Page) -> int:
        """Return where a chapter begins in its file. One whose element is missing begins with the
        file, or at its end if another chapter begins in it.
        """
        start = self._starts[index]
        follows = index > 0 and self._starts[index - 1].file == start.file
        missing = len(page.blocks) if follows and start.fragment else 0
        return page.marks.get(start.fragment, missing)

    def _tree(self, name: str) -> Element:
        return parse_tree(self._content(name))

    def _content(self, name: str) -> str:
        return decode(self._archive.read(name))

    def _chapter_starts(self, tables: list[str]) -> list[_Entry]:
        """Return the chapters of the table of contents: its first levels, and deeper entries that
        begin a file. Without a table every file is a chapter.
        """
        entries = next(filter(None, map(self._entries, tables)), [])
        depths = sorted(entry.depth for entry in entries)
        depth = depths[min(_ENOUGH, len(depths)) - 1] if depths else 1
        starts: dict[tuple[int, str], _Entry] = {}
        seen = set()
        for entry in entries:
            if entry.file not in seen or entry.depth <= depth:
                starts.setdefault((entry.file, entry.fragment), entry)
            seen.add(entry.file)
        if len(starts) * _SPARSE < len(self._files):
            missing = (number for number in range(len(self._files)) if number not in seen)
            starts |= {(number, ""): self._untitled(number) for number in missing}
        # The order of the table within a file, that of the spine between files.
        found = sorted(starts.values(), key=lambda start: start.file)
        return [_Entry(found[0].title, 0), *found[1:]]

    def _untitled(self, number: int) -> _Entry:
        """Return the start of a file that the table leaves out, with the heading at its top."""
        root = parse_tree(self._content(self._files[number])[:_TOP], is_html=True)
        headings = (each.text for each in Page(root).blocks if each.kind is Kind.HEADING)
        title = title_of(next(headings, "")) or _text(root.find(".//title"))
        return _Entry(title or str(number + 1), number)

    def _entries(self, table: str) -> list[_Entry]:
        """Return the entries of a table of contents that lead to a file of the spine."""
        numbers = {path: number for number, path in enumerate(self._files)}
        entries = []
        for title, link, depth in _links(self._tree(table)):
            path, _, fragment = link.partition("#")
            number = numbers.get(_path(posixpath.dirname(table), path))
            if title and number is not None:
                entries.append(_Entry(title, number, fragment, depth))
        return entries[: blocks.MOST_CHAPTERS]


def _path(folder: str, link: str) -> str:
    return posixpath.normpath(posixpath.join(folder, unquote(link)))


def _text(element: Element | None) -> str:
    return "" if element is None else title_of("".join(element.itertext()))


def _links(element: Element, depth: int = 0) -> Iterator[tuple[str, str, int]]:
    """Yield (title, link, depth) of an NCX file or of the navigation of EPUB 3, in order."""
    for child in element:
        if child.tag == "navpoint":
            content = child.find("content")
            link = "" if content is None else content.get("src", "")
            yield _text(child.find("navlabel")), link, depth
        elif child.tag == "a":
            yield _text(child), child.get("href", ""), depth
        if child.tag != "nav" or child.get("epub:type", "toc") == "toc":  # no list of pages
            yield from _links(child, depth + (child.tag in ("navpoint", "ol")))


def parse(archive: Archive) -> Parsed:
    """Open a book."""
    book = _Book(archive)
    return Parsed(book.outline, book.chapter)
