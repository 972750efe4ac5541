"""EPUB 2 and 3: chapters by the table of contents, text in the order of the spine.

Invariant: a chapter reads only the files it needs, so a long book opens quickly. Package, NCX and
navigation are read with Python's HTML parser, which has no entities of a document's own.
"""

import posixpath
from collections.abc import Iterator
from dataclasses import dataclass
from html.parser import HTMLParser
from typing import Final
from urllib.parse import unquote
from xml.etree.ElementTree import Element, SubElement

from engine.reading.parsers.archive import Archive, decode
from engine.reading.parsers.blocks import (
    MOST_CHAPTERS,
    Block,
    Fault,
    Kind,
    Outline,
    Parsed,
    UnreadableDocument,
    title_of,
)
from engine.reading.parsers.html import Attributes, BlockReader

_FONT_OBFUSCATION: Final = (
    "http://www.idpf.org/2008/embedding",
    "http://ns.adobe.com/pdf/enc#rc",
)
_SPARSE: Final = 4  # files of the spine for each entry: with more, the table leaves files out
_TOP: Final = 8_000  # characters of a file in which its title stands
_DEEPEST: Final = 200  # elements inside one another
MAIN: Final = "META-INF/container.xml"
_ENOUGH: Final = 4  # chapters: with fewer entries of the first level, deeper ones are some too


@dataclass(frozen=True)
class _Start:
    """Where a chapter begins: a file of the spine and an element in it ("" = its first)."""

    title: str
    file: int
    fragment: str = ""


@dataclass(frozen=True)
class _Entry:
    """An entry of the table of contents. `depth`: 0 = the outermost."""

    title: str
    link: str
    depth: int


class _Tree(HTMLParser):
    """An XML file as elements. Their names are in lower case, without a prefix."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.root = Element("")
        self._open = [self.root]
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: Attributes) -> None:
        given = {name: value or "" for name, value in attrs}
        self._open.append(SubElement(self._open[-1], tag.rpartition(":")[2], given))
        if len(self._open) > _DEEPEST:
            raise UnreadableDocument(Fault.TOO_LARGE)

    def handle_endtag(self, tag: str) -> None:
        names = [element.tag for element in self._open]
        if (name := tag.rpartition(":")[2]) in names:
            del self._open[len(names) - 1 - names[::-1].index(name) :]

    def handle_data(self, data: str) -> None:
        parent = self._open[-1]
        if len(parent):
            parent[-1].tail = (parent[-1].tail or "") + data
        else:
            parent.text = (parent.text or "") + data


def _text(element: Element | None) -> str:
    return "" if element is None else title_of("".join(element.itertext()))


def _entries(element: Element, depth: int = 0) -> Iterator[_Entry]:
    """Yield the entries of an NCX file or of the navigation of EPUB 3, in order."""
    for child in element:
        if child.tag == "navpoint":
            content = child.find("content")
            link = "" if content is None else content.get("src", "")
            yield _Entry(_text(child.find("navlabel")), link, depth)
        elif child.tag == "a":
            yield _Entry(_text(child), child.get("href", ""), depth)
        if child.tag != "nav" or child.get("epub:type", "toc") == "toc":  # no list of pages
            yield from _entries(child, depth + (child.tag in ("navpoint", "ol")))


class _Book:
    """An open EPUB."""

    def __init__(self, archive: Archive) -> None:
        self._archive = archive
        _refuse_protected(archive)
        container = self._tree(MAIN).find(".//rootfile")
        package = "" if container is None else container.get("full-path", "")
        self._folder = posixpath.dirname(package)
        self._package = self._tree(package)
        self._items = {each.get("id"): each for each in self._package.iter("item")}
        self._files = self._spine()
        if not self._files:
            raise UnreadableDocument(Fault.DAMAGED)
        self._starts = self._chapter_starts()

    @property
    def outline(self) -> Outline:
        return Outline(
            tuple(start.title for start in self._starts),
            *(_text(self._package.find(f".//{name}")) for name in ("title", "creator", "language")),
        )

    def _tree(self, name: str) -> Element:
        return _Tree(decode(self._archive.read(name))).root

    def chapter(self, index: int) -> list[Block]:
        """Return the paragraphs from the start of a chapter to the start of the next one."""
        start = self._starts[index]
        end = self._starts[index + 1] if index + 1 < len(self._starts) else _end(self._files)
        blocks: list[Block] = []
        for number in range(start.file, min(end.file + bool(end.fragment), len(self._files))):
            reader = BlockReader({start.fragment, end.fragment} - {""})
            reader.feed(decode(self._archive.read(self._files[number])))
            page = reader.finish()
            first = self._position(index, reader) if number == start.file else 0
            last = self._position(index + 1, reader) if number == end.file else len(page)
            blocks += page[first:last]
        return blocks

    def _position(self, index: int, reader: BlockReader) -> int:
        """Return where a chapter begins in its file. One whose element is missing begins with the
        file, or at its end if another chapter begins in it.
        """
        start = self._starts[index]
        follows = index > 0 and self._starts[index - 1].file == start.file
        missing = len(reader.blocks) if follows and start.fragment else 0
        return reader.marks.get(start.fragment, missing)

    def _path(self, link: str, folder: str) -> str:
        return posixpath.normpath(posixpath.join(folder, unquote(link)))

    def _spine(self) -> list[str]:
        """Return the files of the text, each once, in reading order."""
        read = (each for each in self._package.iter("itemref") if each.get("linear") != "no")
        items = (self._items.get(each.get("idref")) for each in read)
        links = (each.get("href", "") for each in items if each is not None)
        paths = (self._path(link, self._folder) for link in links if link)
        return list(dict.fromkeys(path for path in paths if path in self._archive))

    def _chapter_starts(self) -> list[_Start]:
        """Return the chapters of the table of contents: its first levels, and deeper entries that
        begin a file. Without a table every file is a chapter.
        """
        entries, folder = self._contents()
        numbers = {path: number for number, path in enumerate(self._files)}
        depths = sorted(entry.depth for entry in entries)
        depth = depths[min(_ENOUGH, len(depths)) - 1] if depths else 1
        starts: dict[tuple[int, str], _Start] = {}
        seen = set()
        for entry in entries:
            link, _, fragment = entry.link.partition("#")
            number = numbers.get(self._path(link, folder))
            if number is None:
                continue
            if number not in seen or entry.depth <= depth:
                starts.setdefault((number, fragment), _Start(entry.title, number, fragment))
            seen.add(number)
        if len(starts) * _SPARSE < len(self._files):
            missing = (number for number in range(len(self._files)) if number not in seen)
            starts |= {(number, ""): self._untitled(number) for number in missing}
        # The order of the table within a file, that of the spine between files.
        found = sorted(starts.values(), key=lambda start: start.file)
        return [_Start(found[0].title, 0), *found[1:]]

    def _untitled(self, number: int) -> _Start:
        """Return the start of a file that the table leaves out, with the heading at its top."""
        reader = BlockReader()
        reader.feed(decode(self._archive.read(self._files[number]))[:_TOP])
        headings = (block.text for block in reader.finish() if block.kind is Kind.HEADING)
        title = title_of(next(headings, reader.title)) or str(number + 1)
        return _Start(title, number)

    def _contents(self) -> tuple[list[_Entry], str]:
        """Return the entries of the table of contents and the folder of its file."""
        tables = [each for each in self._items.values() if "nav" in each.get("properties", "")]
        kind = "application/x-dtbncx+xml"
        tables += [each for each in self._items.values() if each.get("media-type") == kind]
        for table in tables:
            path = self._path(table.get("href", ""), self._folder)
            entries = [each for each in _entries(self._tree(path)) if each.title and each.link]
            if entries:
                return entries[:MOST_CHAPTERS], posixpath.dirname(path)
        return [], ""


def _end(files: list[str]) -> _Start:
    return _Start("", len(files))


def _refuse_protected(archive: Archive) -> None:
    if "META-INF/license.lcpl" in archive:
        raise UnreadableDocument(Fault.COPY_PROTECTED)
    encryption = _Tree(decode(archive.read("META-INF/encryption.xml"))).root
    methods = [each.get("algorithm", "") for each in encryption.iter("encryptionmethod")]
    if any(method.lower() not in _FONT_OBFUSCATION for method in methods):
        raise UnreadableDocument(Fault.COPY_PROTECTED)


def parse(archive: Archive) -> Parsed:
    """Open a book."""
    book = _Book(archive)
    return Parsed(book.outline, book.chapter)
