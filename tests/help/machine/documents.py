"""Documents made for tests: EPUBs, and PDFs whose every word has a place."""

import io
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

_CONTAINER = (
    '<?xml version="1.0"?><container><rootfiles>'
    '<rootfile full-path="OEBPS/content.opf"/></rootfiles></container>'
)


def page(body: str) -> str:
    """A page of an EPUB."""
    return f"<html xmlns='http://www.w3.org/1999/xhtml'><head><title/></head><body>{body}</body></html>"


def package(
    names: Sequence[str], *, language: str = "en", title: str = "A Book", spine: str = ""
) -> str:
    """The package file of an EPUB with these pages."""
    items = "".join(
        f'<item id="{name}" href="{name}" media-type="application/xhtml+xml"/>' for name in names
    )
    spine = spine or "".join(f'<itemref idref="{name}"/>' for name in names)
    return (
        '<?xml version="1.0"?><package xmlns:dc="x"><metadata>'
        f"<dc:title>{title}</dc:title><dc:creator>A. Writer</dc:creator>"
        f"<dc:language>{language}</dc:language></metadata><manifest>{items}"
        '<item id="nav" href="nav.xhtml" properties="nav"/></manifest>'
        f"<spine>{spine}</spine></package>"
    )


def contents(entries: Iterable[tuple[str, str]]) -> str:
    """The navigation of an EPUB 3: (title, link)."""
    rows = "".join(f'<li><a href="{link}">{title}</a></li>' for title, link in entries)
    return page(f'<nav epub:type="toc"><ol>{rows}</ol></nav>')


def epub(
    path: Path,
    pages: Mapping[str, str],
    entries: Iterable[tuple[str, str]] = (),
    *,
    language: str = "en",
    more: Mapping[str, str | bytes] | None = None,
) -> Path:
    """Write an EPUB 3. `more` replaces or adds files of the archive."""
    files: dict[str, str | bytes] = {
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": _CONTAINER,
        "OEBPS/content.opf": package(list(pages), language=language),
        "OEBPS/nav.xhtml": contents(entries),
        **{f"OEBPS/{name}": page(body) for name, body in pages.items()},
        **(more or {}),
    }
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return path


@dataclass(frozen=True)
class Line:
    """Text at a place of a PDF's page (points from the lower left)."""

    x: float
    y: float
    text: str
    size: float = 10.0
    bold: bool = False


def pdf(
    path: Path,
    pages: Sequence[Sequence[Line]],
    bookmarks: Sequence[tuple[str, int]] = (),
    *,
    title: str = "",
) -> Path:
    """Write a PDF. The lines are drawn in the order given, which a reader must not rely on."""
    objects: list[bytes] = []

    def add(content: str | bytes) -> int:
        objects.append(content.encode("cp1252") if isinstance(content, str) else content)
        return len(objects)

    fonts = [
        add(f"<< /Type /Font /Subtype /Type1 /BaseFont /{name} /Encoding /WinAnsiEncoding >>")
        for name in ("Helvetica", "Helvetica-Bold")
    ]
    first = len(objects) + 1
    parent = first + 2 * len(pages)
    for lines in pages:
        stream = b"".join(_drawn(line) for line in lines)
        body = b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream)
        content = add(body)
        add(
            f"<< /Type /Page /Parent {parent} 0 R /MediaBox [0 0 612 792] /Contents {content} 0 R "
            f"/Resources << /Font << /F0 {fonts[0]} 0 R /F1 {fonts[1]} 0 R >> >> >>"
        )
    numbers = [first + 2 * index + 1 for index in range(len(pages))]
    kids = " ".join(f"{number} 0 R" for number in numbers)
    add(f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>")
    catalogue = f"<< /Type /Catalog /Pages {parent} 0 R"
    if bookmarks:
        root = len(objects) + 1
        last = root + len(bookmarks)
        add(f"<< /Type /Outlines /First {root + 1} 0 R /Last {last} 0 R /Count {len(bookmarks)} >>")
        for index, (name, page_index) in enumerate(bookmarks):
            at = root + 1 + index
            near = f" /Next {at + 1} 0 R" if at < last else ""
            near += f" /Prev {at - 1} 0 R" if index else ""
            target = f"[{numbers[page_index]} 0 R /Fit]"
            add(f"<< /Title ({name}) /Parent {root} 0 R /Dest {target}{near} >>")
        catalogue += f" /Outlines {root} 0 R"
    info = add(f"<< /Title ({title}) >>")
    path.write_bytes(_file(objects, add(catalogue + " >>"), info))
    return path


def _drawn(line: Line) -> bytes:
    text = line.text.replace("\\", "\\\\").replace("(", "\\(").replace(")", "\\)")
    font = f"/F{int(line.bold)} {line.size}"
    return f"BT {font} Tf {line.x} {line.y} Td ({text}) Tj ET\n".encode("cp1252")


def _file(objects: Sequence[bytes], root: int, info: int) -> bytes:
    out = io.BytesIO()
    out.write(b"%PDF-1.4\n")
    offsets = []
    for number, content in enumerate(objects, 1):
        offsets.append(out.tell())
        out.write(b"%d 0 obj\n%s\nendobj\n" % (number, content))
    table = out.tell()
    out.write(b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1))
    for offset in offsets:
        out.write(b"%010d 00000 n \n" % offset)
    out.write(
        b"trailer << /Size %d /Root %d 0 R /Info %d 0 R >>\n" % (len(objects) + 1, root, info)
    )
    out.write(b"startxref\n%d\n%%%%EOF\n" % table)
    return out.getvalue()
