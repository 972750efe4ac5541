"""Documents made to do harm are refused with a reason, or cost no more than any other."""

import os
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.errors import Cancelled, InvalidInput
from engine.reading import document as reading
from engine.reading.document import open_document
from engine.reading.parsers.blocks import MOST_CHARACTERS, MOST_PARAGRAPH, MOST_WORD
from tests.help.machine.documents import Line, epub, package, pdf

Make = Callable[[Path], Path]


def _zip_bomb(folder: Path) -> Path:
    return epub(folder / "book.epub", {"a.xhtml": "<p>" + "a " * (20 << 20)})


def _package_bomb(folder: Path) -> Path:
    return epub(folder / "book.epub", {}, more={"OEBPS/content.opf": " " * (40 << 20)})


def _encrypted_member(folder: Path) -> Path:
    path = epub(folder / "book.epub", {"a.xhtml": "<p>Text."})
    content = bytearray(path.read_bytes())
    for signature, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        at = content.find(signature)
        while at >= 0:
            content[at + flags] |= 1
            at = content.find(signature, at + 4)
    path.write_bytes(content)
    return path


def _drm(folder: Path) -> Path:
    encryption = (
        '<encryption><enc:EncryptionMethod Algorithm="http://www.w3.org/aes256"/></encryption>'
    )
    more = {"META-INF/encryption.xml": encryption}
    return epub(folder / "book.epub", {"a.xhtml": "<p>Text."}, more=more)


def _lcp(folder: Path) -> Path:
    return epub(folder / "b.epub", {"a.xhtml": "<p>Text."}, more={"META-INF/license.lcpl": "{}"})


def _empty_spine(folder: Path) -> Path:
    return epub(folder / "book.epub", {}, more={"OEBPS/content.opf": package([])})


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


def _cut_archive(folder: Path) -> Path:
    path = epub(folder / "book.epub", {"a.xhtml": "<p>Text."})
    path.write_bytes(path.read_bytes()[:-100])
    return path


def _wrong_checksum(folder: Path) -> Path:
    path = epub(folder / "book.epub", {"a.xhtml": "<p>Text."})
    content = path.read_bytes()
    at = content.index(b"PK\x03\x04", 10)
    path.write_bytes(content[: at + 60] + b"\xff\xff\xff" + content[at + 63 :])
    return path


def _garbage_pdf(folder: Path) -> Path:
    (folder / "a.pdf").write_bytes(b"%PDF-1.7\n" + os.urandom(2000))
    return folder / "a.pdf"


def _scan(folder: Path) -> Path:
    return pdf(folder / "a.pdf", [[], [], []])


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


def _huge_text(folder: Path) -> Path:
    (folder / "a.txt").write_text("a")
    os.truncate(folder / "a.txt", 300 << 20)
    return folder / "a.txt"


def _empty(folder: Path) -> Path:
    (folder / "a.txt").touch()
    return folder / "a.txt"


def _spaces(folder: Path) -> Path:
    (folder / "a.md").write_text(" \n\n \t\n")
    return folder / "a.md"


def _zero_bytes(folder: Path) -> Path:
    (folder / "a.txt").write_bytes(b"\x00\x01text\x00" * 100)
    return folder / "a.txt"


def _program(folder: Path) -> Path:
    (folder / "a.pdf").write_bytes(b"\x7fELF\x02\x01\x01" + bytes(500))
    return folder / "a.pdf"


def _pipe(folder: Path) -> Path:
    os.mkfifo(folder / "a.txt")
    return folder / "a.txt"


def _link_to_a_device(folder: Path) -> Path:
    (folder / "a.txt").symlink_to("/dev/zero")
    return folder / "a.txt"


def _link_to_itself(folder: Path) -> Path:
    (folder / "a.txt").symlink_to("a.txt")
    return folder / "a.txt"


def _process_file(folder: Path) -> Path:
    (folder / "a.txt").symlink_to("/proc/self/environ")
    return folder / "a.txt"


REFUSED = [
    (_zip_bomb, "too large"),
    (_package_bomb, "too large"),
    (_encrypted_member, "password"),
    (_drm, "DRM"),
    (_lcp, "DRM"),
    (_empty_spine, "damaged"),
    (_outside, "damaged"),
    (_other_archive, "not a document"),
    (_cut_archive, "damaged"),
    (_wrong_checksum, "damaged"),
    (_garbage_pdf, "damaged"),
    (_scan, "pictures"),
    (_encrypted_pdf, "password"),
    (_huge_pdf, "too large"),
    (_huge_text, "too large"),
    (_empty, "empty"),
    (_spaces, "no text"),
    (_zero_bytes, "not a document"),
    (_program, "not a document"),
    (_pipe, "not a regular file"),
    (_link_to_a_device, "not a regular file"),
    (_link_to_itself, "cannot be opened"),
    (_process_file, "empty"),
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


def test_a_wrong_suffix_makes_no_difference(tmp_path):
    book = epub(tmp_path / "book.pdf", {"a.xhtml": "<p>A book."})
    assert _text(book) == "A book."
    paper = pdf(tmp_path / "paper.txt", [[Line(72, 700, "A paper of one line.")]])
    assert _text(paper) == "A paper of one line."


def test_a_link_to_a_document_is_read(tmp_path):
    (tmp_path / "a.txt").write_text("Text.")
    (tmp_path / "b.txt").symlink_to("a.txt")
    assert _text(tmp_path / "b.txt") == "Text."


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


def test_opening_can_be_cancelled(tmp_path, monkeypatch):
    (tmp_path / "parser.py").write_text("import threading; threading.Event().wait()")
    monkeypatch.setattr(reading.parse, "__file__", str(tmp_path / "parser.py"))
    (tmp_path / "a.txt").write_text("Text.")
    with pytest.raises(Cancelled):
        open_document(tmp_path / "a.txt", cancelled=lambda: True)
