"""EPUB 2 and 3: chapters by the table of contents, text in the order of the spine.

Invariant: a chapter reads only the files it needs, so a long book opens quickly. Package, NCX and
navigation are read with Python's HTML parser, which has no entities of a document's own.
"""

import posixpath
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Final
from urllib.parse import unquote

from engine.reading.parsers.archive import Archive
from engine.reading.parsers.blocks import (
    MOST_CHAPTERS,
    Block,
    Fault,
    Outline,
    Parsed,
    UnreadableDocument,
    title_of,
)
from engine.reading.parsers.decoding import decode
from engine.reading.parsers.html import Attributes, BlockReader

_FONT_OBFUSCATION: Final = (
    "http://www.idpf.org/2008/embedding",
    "http://ns.adobe.com/pdf/enc#rc",
)
_ENOUGH: Final = 4  # chapters: with fewer entries of the first level, deeper ones are some too


@dataclass(frozen=True)
class _Start:
    """Where a chapter begins: a file of the spine and an element in it ("" = its first)."""

    title: str
    file: int
    fragment: str = ""


@dataclass
class _Element:
    """An element of an XML file. Names are in lower case, without a prefix."""

    name: str
    given: dict[str, str] = field(default_factory=dict)
    text: str = ""


@dataclass(frozen=True)
class _Entry:
    """An entry of the table of contents. `depth`: 1 = the outermost."""

    title: str
    link: str
    depth: int


class _Elements(HTMLParser):
    """Lists the elements of an XML file in their order, each with the text inside."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.all: list[_Element] = []
        self._open: list[_Element] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: Attributes) -> None:
        given = {name: value or "" for name, value in attrs}
        element = _Element(tag.rpartition(":")[2], given)
        self.all.append(element)
        self._open = [*self._open[-50:], element]

    def handle_endtag(self, tag: str) -> None:
        name = tag.rpartition(":")[2]
        for at in reversed(range(len(self._open))):
            if self._open[at].name == name:
                del self._open[at:]
                return

    def handle_data(self, data: str) -> None:
        if self._open:
            self._open[-1].text += data

    def named(self, name: str) -> list[_Element]:
        return [element for element in self.all if element.name == name]

    def first(self, name: str) -> str:
        """Return the text of the first element with a name and a text."""
        return next((each.text.strip() for each in self.named(name) if each.text.strip()), "")


class _Contents(HTMLParser):
    """Reads the entries of an NCX file or of the navigation of EPUB 3."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.entries: list[_Entry] = []
        self._depth = 0
        self._title: list[str] | None = None  # text of the entry that is being read
        self._link = ""
        self._left_out = False  # lists of pages and landmarks
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: Attributes) -> None:
        given = {name: value or "" for name, value in attrs}
        match tag.rpartition(":")[2]:
            case "nav":
                self._left_out = given.get("epub:type", "toc") != "toc"
            case "navpoint" | "ol":
                self._depth += 1
            case "navlabel":
                self._title = []
            case "a":
                self._title, self._link = [], given.get("href", "")
            case "content":
                self._enter(given.get("src", ""))

    def handle_endtag(self, tag: str) -> None:
        match tag.rpartition(":")[2]:
            case "navpoint" | "ol":
                self._depth = max(0, self._depth - 1)
            case "a":
                self._enter(self._link)

    def handle_data(self, data: str) -> None:
        if self._title is not None:
            self._title.append(data)

    def _enter(self, link: str) -> None:
        title = title_of("".join(self._title or []))
        self._title = None
        if title and link and not self._left_out and len(self.entries) < MOST_CHAPTERS:
            self.entries.append(_Entry(title, link, self._depth))


class _Book:
    """An open EPUB."""

    def __init__(self, archive: Archive) -> None:
        self._archive = archive
        _refuse_protected(archive)
        container = _Elements(decode(archive.read("META-INF/container.xml")))
        package = next(
            (each.given.get("full-path", "") for each in container.named("rootfile")), ""
        )
        self._folder = posixpath.dirname(package)
        self._package = _Elements(decode(archive.read(package)))
        self._items = {each.given.get("id"): each.given for each in self._package.named("item")}
        self._files = self._spine()
        if not self._files:
            raise UnreadableDocument(Fault.DAMAGED)
        self._starts = self._chapter_starts()

    @property
    def outline(self) -> Outline:
        return Outline(
            tuple(start.title for start in self._starts),
            title_of(self._package.first("title")),
            title_of(self._package.first("creator")),
            self._package.first("language"),
        )

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
        references = (each.given for each in self._package.named("itemref"))
        read = (each.get("idref") for each in references if each.get("linear") != "no")
        links = (self._items.get(name, {}).get("href", "") for name in read)
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
        # The order of the table within a file, that of the spine between files.
        found = sorted(starts.values(), key=lambda start: start.file)
        if not found:
            return [_Start(str(number + 1), number) for number in range(len(self._files))]
        return [_Start(found[0].title, 0), *found[1:]]

    def _contents(self) -> tuple[list[_Entry], str]:
        """Return the entries of the table of contents and the folder of its file."""
        toc = {each.given.get("toc") for each in self._package.named("spine")}
        tables = [
            each for each in self._items.values() if "nav" in each.get("properties", "").split()
        ]
        tables += [
            each
            for name, each in self._items.items()
            if name in toc or each.get("media-type") == "application/x-dtbncx+xml"
        ]
        for table in tables:
            path = self._path(table.get("href", ""), self._folder)
            if entries := _Contents(decode(self._archive.read(path))).entries:
                return entries, posixpath.dirname(path)
        return [], ""


def _end(files: list[str]) -> _Start:
    return _Start("", len(files))


def _refuse_protected(archive: Archive) -> None:
    if "META-INF/license.lcpl" in archive:
        raise UnreadableDocument(Fault.COPY_PROTECTED)
    encryption = _Elements(decode(archive.read("META-INF/encryption.xml")))
    methods = [each.given.get("algorithm", "") for each in encryption.named("encryptionmethod")]
    if any(method.lower() not in _FONT_OBFUSCATION for method in methods):
        raise UnreadableDocument(Fault.COPY_PROTECTED)


def is_epub(archive: Archive) -> bool:
    return "META-INF/container.xml" in archive


def parse(archive: Archive) -> Parsed:
    """Open a book."""
    book = _Book(archive)
    return Parsed(book.outline, book.chapter)
