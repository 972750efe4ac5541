"""Documents made to do harm are refused with a reason, or cost no more than any other."""

import os
import re
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.errors import InvalidInput
from engine.reading import document as reading
from engine.reading.document import open_document
from engine.reading.parsers.blocks import MOST_CHARACTERS, MOST_PARAGRAPH, MOST_WORD
from tests.help.machine.documents import Line, epub, package, pdf

Make = Callable[[Path], Path]


def _encrypted_member(content: bytes) -> bytes:
    changed = bytearray(content)
    for signature, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        for found in re.finditer(re.escape(signature), content):
            changed[found.start() + flags] |= 1
    return bytes(changed)


def _with(content: str, name: str) -> Make:
    """A book with one more member."""
    return lambda folder: epub(folder / "b.epub", {"a.xhtml": "<p>Text."}, more={name: content})


def _file(name: str, content: bytes, size: int = 0) -> Make:
    """A file of this content, or of `size` bytes."""

    def make(folder: Path) -> Path:
        (folder / name).write_bytes(content)
        if size:
            os.truncate(folder / name, size)
        return folder / name

    return make


def _link(target: str) -> Make:
    def make(folder: Path) -> Path:
        (folder / "a.txt").symlink_to(target)
        return folder / "a.txt"

    return make


DRM = '<encryption><enc:EncryptionMethod Algorithm="http://www.w3.org/aes256"/></encryption>'


def _outside(folder: Path) -> Path:
    """All pages lie outside the archive."""
    (folder / "secret.xhtml").write_text("<p>Secret.")
    names = ["../../secret.xhtml", "/etc/passwd", "file:///etc/passwd", "..%2f..%2fsecret.xhtml"]
    return epub(folder / "book.epub", {}, more={"OEBPS/content.opf": package(names)})


def _other_archive(folder: Path) -> Path:
    inner = epub(folder / "inner.epub", {"a.xhtml": "<p>Text."})
    with zipfile.ZipFile(folder / "book.epub", "w") as archive:
        archive.write(inner, "inner.epub")
    return folder / "book.epub"


def _broken(change: Callable[[bytes], bytes]) -> Make:
    def make(folder: Path) -> Path:
        path = epub(folder / "book.epub", {"a.xhtml": "<p>Text."})
        path.write_bytes(change(path.read_bytes()))
        return path

    return make


def _wrong_checksum(content: bytes) -> bytes:
    at = content.index(b"PK\x03\x04", 10)
    return content[: at + 60] + b"\xff\xff\xff" + content[at + 63 :]


def _encrypted_pdf(folder: Path) -> Path:
    path = pdf(folder / "a.pdf", [[Line(72, 700, "Secret.")]])
    key = "<" + "41" * 32 + ">"
    encrypt = f"/Encrypt << /Filter /Standard /V 1 /R 2 /O {key} /U {key} /P -4 >> /ID [<41> <41>]"
    path.write_bytes(path.read_bytes().replace(b"trailer <<", b"trailer << " + encrypt.encode()))
    return path


def _huge_pdf(folder: Path) -> Path:
    path = pdf(folder / "a.pdf", [[Line(72, 700, "Text.")]])
    os.truncate(path, 1 << 30)
    return path


def _pipe(folder: Path) -> Path:
    os.mkfifo(folder / "a.txt")
    return folder / "a.txt"


REFUSED = [
    (lambda folder: epub(folder / "b.epub", {"a.xhtml": "<p>" + "a " * (20 << 20)}), "too large"),
    (_with(" " * (40 << 20), "OEBPS/content.opf"), "too large"),
    (_broken(_encrypted_member), "password"),
    (_with(DRM, "META-INF/encryption.xml"), "DRM"),
    (_with("{}", "META-INF/license.lcpl"), "DRM"),
    (_with(package([]), "OEBPS/content.opf"), "damaged"),
    (_outside, "damaged"),
    (_other_archive, "not a document"),
    (_broken(lambda content: content[:-100]), "damaged"),
    (_broken(_wrong_checksum), "damaged"),
    (_file("a.pdf", b"%PDF-1.7\n" + os.urandom(2000)), "damaged"),
    (lambda folder: pdf(folder / "a.pdf", [[], [], []]), "pictures"),
    (_encrypted_pdf, "password"),
    (_huge_pdf, "too large"),
    (_file("a.txt", b"a", 300 << 20), "too large"),
    (_file("a.txt", b""), "empty"),
    (_file("a.md", b" \n\n \t\n"), "no text"),
    (_file("a.txt", b"\x00\x01text\x00" * 100), "not a document"),
    (_file("a.pdf", b"\x7fELF\x02\x01\x01" + bytes(500)), "not a document"),
    (_pipe, "not a regular file"),
    (_link("/dev/zero"), "not a regular file"),
    (_link("a.txt"), "cannot be opened"),
    (_link("/proc/self/environ"), "empty"),
    (lambda folder: folder, "not a regular file|cannot be opened"),
    (lambda folder: folder / "none.pdf", "cannot be opened"),
    (lambda folder: folder / "a\0.pdf", "cannot be opened"),
]


@pytest.mark.parametrize(("make", "reason"), REFUSED)
def test_a_hostile_document_is_refused_with_a_reason(make, reason, tmp_path):
    path = make(tmp_path)
    with pytest.raises(InvalidInput, match=reason) as caught:
        open_document(path).chapter(0)
    assert caught.value.hint


# ------------------------------------------------------------- read, but only what is harmless

ENTITIES = """<?xml version="1.0"?><!DOCTYPE html [<!ENTITY a "haha"><!ENTITY b "&a;&a;&a;&a;&a;">
<!ENTITY c "&b;&b;&b;&b;&b;"><!ENTITY d SYSTEM "file:///etc/passwd">]>"""


def _text(path: Path) -> str:
    document = open_document(path)
    chapters = [document.chapter(index) for index in range(len(document.chapter_titles))]
    return " ".join(each.text for chapter in chapters for each in chapter.paragraphs)


def test_entities_are_not_expanded_and_no_file_is_read(tmp_path):
    page = ENTITIES + "<html><body><p>Before &c; &d; after.</p></body></html>"
    path = epub(tmp_path / "b.epub", {"a.xhtml": ""}, more={"OEBPS/a.xhtml": page})
    assert _text(path) == "Before &c; &d; after."
    (tmp_path / "a.html").write_text(page)
    assert "root:" not in _text(tmp_path / "a.html")


def test_a_spine_that_names_a_page_again_and_again_reads_it_once(tmp_path):
    spine = '<itemref idref="a.xhtml"/><itemref idref="b.xhtml"/>' * 5_000
    more = {"OEBPS/content.opf": package(["a.xhtml", "b.xhtml"], spine=spine)}
    path = epub(tmp_path / "b.epub", {"a.xhtml": "<p>One.", "b.xhtml": "<p>Two."}, more=more)
    assert _text(path) == "One. Two."


def test_scripts_styles_forms_and_hidden_text_are_left_out(tmp_path):
    (tmp_path / "a.html").write_text(
        "<title>T</title><style>p {x}</style><p>Said.</p><script>if (a<b) alert('</p>')</script>"
        "<template>no</template><svg><text>no</text></svg><p hidden>no</p><p aria-hidden='true'>no"
        "<p>Again.<noscript>no</noscript><button>no</button><select><option>no</select>"
    )
    assert _text(tmp_path / "a.html") == "Said. Again."


@pytest.mark.parametrize(
    "opened", ["<div>", "<blockquote>", "<ul><li>", "<table><tr><td>", "<sup>"]
)
def test_deep_nesting_is_read(opened, tmp_path):
    (tmp_path / "a.html").write_text(opened * 30_000 + "Deep.")
    assert "Deep." in _text(tmp_path / "a.html")


def test_nested_quotes_and_lists_of_markdown_end(tmp_path):
    (tmp_path / "a.md").write_text(">" * 20_000 + " Deep.\n\n" + "- " * 5_000 + "\n\nAfter.\n")
    assert "After." in _text(tmp_path / "a.md")


def test_broken_utf_8_is_read_without_the_broken_bytes(tmp_path):
    (tmp_path / "a.txt").write_bytes("Größe und Übermut. ".encode() * 20 + b"\xff\xfe\x80 End.")
    assert _text(tmp_path / "a.txt").startswith("Größe und Übermut.")
    assert _text(tmp_path / "a.txt").endswith("End.")


def test_a_huge_paragraph_and_a_huge_word_are_divided(tmp_path):
    (tmp_path / "a.txt").write_text("A sentence of words. " * 20_000 + "x" * 100_000)
    document = open_document(tmp_path / "a.txt")
    for index in range(len(document.chapter_titles)):
        for paragraph in document.chapter(index).paragraphs:
            assert len(paragraph.text) <= MOST_PARAGRAPH
            assert max(map(len, paragraph.text.split())) <= MOST_WORD


def test_a_chapter_without_end_ends(tmp_path):
    path = epub(tmp_path / "b.epub", {"a.xhtml": "<p>" + "word " * (MOST_CHARACTERS // 4)})
    assert 0.9 * MOST_CHARACTERS < len(_text(path)) <= MOST_CHARACTERS + 1_000
    assert _text(path).endswith("The rest of this chapter is left out, because it is too long.")


def test_a_pdf_whose_pages_are_the_same_without_end_is_bounded(tmp_path):
    path = pdf(tmp_path / "a.pdf", [[Line(72, 700, "The same page.")]])
    content = path.read_bytes()
    kids = content[content.index(b"/Kids [") + 7 :].split(b"]")[0]
    more = b"/Kids [" + (kids + b" ") * 30_000 + b"]"
    content = content.replace(b"/Kids [" + kids + b"]", more).replace(
        b"/Count 1 ", b"/Count 30000 "
    )
    path.write_bytes(content)
    document = open_document(path)
    assert len(document.chapter(0).paragraphs) <= 40


def test_pages_of_dots_are_read_in_time(tmp_path):
    dots = [Line(72, 750 - 1.5 * n, "." * 110, size=1) for n in range(440)]
    pages = [[*dots, Line(72, 90, word, size=1)] for word in ("one", "two", "three", "four")]
    assert _text(pdf(tmp_path / "a.pdf", pages)).endswith("four")


def test_a_broken_table_of_objects_is_mended(tmp_path):
    path = pdf(tmp_path / "a.pdf", [[Line(72, 700, "Still to be read, all of it.")]])
    content = path.read_bytes()
    table = content.index(b"xref")
    path.write_bytes(content[:table] + content[table:].replace(b"00000 n", b"99999 x"))
    assert _text(path) == "Still to be read, all of it."


def test_bookmarks_that_go_in_a_circle_or_nowhere_are_bounded(tmp_path):
    pages = [[Line(72, 700, f"Text of page {n}.")] for n in range(3)]
    marks = [(f"Mark {n}", n) for n in range(3)]
    content = pdf(tmp_path / "a.pdf", pages, marks).read_bytes()
    for first, second in (("/Next 1", "/Prev 1"), ("/Fit]", "/Xyz["), ("/Dest [", "/Dest [9")):
        (tmp_path / "b.pdf").write_bytes(content.replace(first.encode(), second.encode()))
        assert "Text of page 2." in _text(tmp_path / "b.pdf")
    ring = content.replace(b"/Prev", b"/Next")
    (tmp_path / "b.pdf").write_bytes(ring)
    assert "Text of page 2." in _text(tmp_path / "b.pdf")


def test_a_wrong_suffix_or_a_link_makes_no_difference(tmp_path):
    book = epub(tmp_path / "book.pdf", {"a.xhtml": "<p>A book."})
    (tmp_path / "b.txt").symlink_to(book)
    assert _text(book) == _text(tmp_path / "b.txt") == "A book."
    paper = pdf(tmp_path / "paper.txt", [[Line(72, 700, "A paper of one line.")]])
    assert _text(paper) == "A paper of one line."


@pytest.mark.parametrize(
    ("program", "reason"),
    [
        ("import os; os.abort()", "damaged"),
        ("import threading; threading.Event().wait()", "too large"),
        ("print('no JSON')", "damaged"),
    ],
)
def test_a_parser_that_dies_or_does_not_end_is_a_fault_of_the_document(
    program, reason, tmp_path, monkeypatch
):
    (tmp_path / "parser.py").write_text(program)
    monkeypatch.setattr(reading.parse, "__file__", str(tmp_path / "parser.py"))
    if "wait" in program:
        monkeypatch.setattr(reading, "LONGEST_S", 0.3)
    (tmp_path / "a.txt").write_text("Text.")
    with pytest.raises(InvalidInput, match=reason):
        open_document(tmp_path / "a.txt")
