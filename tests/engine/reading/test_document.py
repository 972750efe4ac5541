"""Documents of every format become chapters and paragraphs."""

import os
import zipfile
from pathlib import Path

import psutil
import pytest

from engine.errors import InvalidInput
from engine.messages.reading import Paragraph, Place
from engine.reading.document import Document, open_document
from engine.reading.parsers.blocks import Kind
from tests.help.machine.documents import Line, contents, epub, page, pdf


def texts(document: Document, *, kinds: bool = False) -> dict[str, list[str]]:
    """The paragraphs of each chapter. `kinds`: with the kind before each that is not text."""
    chapters = (document.chapter(index) for index in range(len(document.chapter_titles)))
    return {
        each.title: [
            f"{one.kind}: {one.text}" if kinds and one.kind is not Kind.TEXT else one.text
            for one in each.paragraphs
        ]
        for each in chapters
    }


def written(folder: Path, name: str, text: str) -> Document:
    (folder / name).write_text(text, encoding="utf-8")
    return open_document(folder / name)


# ----------------------------------------------------------------------------- EPUB

PAGES = {
    "front.xhtml": "<p>For nobody.</p>",
    "one.xhtml": "<h1 id='a'>One</h1><p>First.</p><h2 id='b'><a id='x'/>Inner</h2><p>Second.</p>",
    "more.xhtml": "<p>Third.</p>",
    "two.xhtml": "<h1>Two</h1><p>Fourth.</p>",
}


def test_the_chapters_of_a_book_are_those_of_its_table_and_its_text_is_in_the_order_of_the_spine(
    tmp_path,
):
    links = [("Two", "two.xhtml"), ("One", "one.xhtml#a"), ("Inner", "one.xhtml#x")]
    book = open_document(epub(tmp_path / "b.epub", PAGES, links, language="en-GB"))
    assert (book.title, book.author, book.language) == ("A Book", "A. Writer", "en")
    assert texts(book) == {
        "One": ["For nobody.", "One", "First."],
        "Inner": ["Inner", "Second.", "Third."],
        "Two": ["Two", "Fourth."],
    }


def test_deep_entries_of_a_table_are_chapters_where_they_begin_a_file(tmp_path):
    rows = "".join(
        f"<li><a href='p{n}.xhtml'>Part {n}</a><ol><li><a href='p{n}.xhtml#s'>Section</a></li>"
        f"<li><a href='c{n}.xhtml'>Chapter {n}</a></li></ol></li>"
        for n in range(5)
    )
    pages = {f"{kind}{n}.xhtml": "<p>T<p id='s'>S" for n in range(5) for kind in "pc"}
    table = page(
        f"<nav epub:type='toc'><ol>{rows}</ol></nav><nav epub:type='page-list'><ol><li>"
        "<a href='p1.xhtml#s'>1</a></li></ol></nav>"
    )
    book = open_document(epub(tmp_path / "b.epub", pages, more={"OEBPS/nav.xhtml": table}))
    assert book.chapter_titles == tuple(
        title for n in range(5) for title in (f"Part {n}", f"Chapter {n}")
    )


def test_a_book_of_epub_2_has_the_chapters_of_its_ncx(tmp_path):
    ncx = (
        "<ncx><navMap><navPoint><navLabel><text>Eins</text></navLabel><content src='two.xhtml'/>"
        "<navPoint><navLabel><text>Zwei &amp; drei</text></navLabel><content src='more.xhtml'/>"
        "</navPoint></navPoint></navMap></ncx>"
    )
    package = (
        "<package><metadata/><manifest><item id='n' href='toc.ncx' "
        "media-type='application/x-dtbncx+xml'/><item id='1' href='two.xhtml'/>"
        "<item id='2' href='more.xhtml'/></manifest><spine toc='n'><itemref idref='1'/>"
        "<itemref idref='2'/></spine></package>"
    )
    more = {"OEBPS/content.opf": package, "OEBPS/toc.ncx": ncx}
    book = open_document(epub(tmp_path / "buch.epub", PAGES, more=more))
    assert (book.title, book.language) == ("buch", None)
    assert texts(book) == {"Eins": ["Two", "Fourth."], "Zwei & drei": ["Third."]}


def test_a_book_without_a_table_has_a_chapter_for_each_file(tmp_path):
    more = {"OEBPS/nav.xhtml": contents([])}
    book = open_document(epub(tmp_path / "b.epub", PAGES, more=more))
    assert book.chapter_titles == ("1", "One", "3", "Two")


def test_files_that_a_poor_table_leaves_out_are_chapters_of_their_own(tmp_path):
    pages = {f"{n}.xhtml": f"<h1>Part {n}</h1><p>Text {n}." for n in range(9)}
    links = [("Start", "1.xhtml"), ("Wrong", "folder/2.xhtml")]
    book = open_document(epub(tmp_path / "b.epub", pages, links))
    assert book.chapter_titles == ("Part 0", "Start", *(f"Part {n}" for n in range(2, 9)))


def test_a_table_that_names_a_place_that_there_is_not_reads_nothing_twice(tmp_path):
    links = [("One", "one.xhtml"), ("Lost", "one.xhtml#lost"), ("Two", "two.xhtml#gone")]
    book = open_document(epub(tmp_path / "b.epub", PAGES, links))
    every = [text for found in texts(book).values() for text in found]
    assert len(every) == len(set(every)) == 8


def test_notes_and_their_numbers_are_skipped(tmp_path):
    body = (
        "<p>A claim<sup><a href='#n1'>1</a></sup> and another<a epub:type='noteref' href='#n2'>"
        "2</a>"
        " of <a href='x.html'>H<sub>2</sub>O</a> in 10<sup>th</sup> place<a href='#n3'>[3]</a>."
        "<aside epub:type='footnote' id='n1'><p>Note.</p></aside><p role='doc-endnote'>Note.</p>"
        "<p>See <a href='#n'>section 2</a>.</p>"
    )
    book = open_document(epub(tmp_path / "b.epub", {"a.xhtml": body}))
    assert texts(book)["1"] == ["A claim and another of H2O in 10th place.", "See section 2."]


@pytest.mark.parametrize(
    ("stated", "language"),
    [("en-GB", "en"), ("PT_br", "pt"), ("deu", None), ("", None), ("x1", None)],
)
def test_the_language_of_a_book_is_known_if_it_is_stated_by_its_code(stated, language, tmp_path):
    book = open_document(epub(tmp_path / "b.epub", {"a.xhtml": "<p>T"}, language=stated))
    assert book.language == language


def test_a_member_in_another_encoding_is_read(tmp_path):
    content = "<?xml version='1.0' encoding='iso-8859-1'?><p>Größe".encode("iso-8859-1")
    more = {"OEBPS/a.xhtml": content, "OEBPS/b.xhtml": "<p>Maß".encode("utf-16")}
    book = open_document(epub(tmp_path / "b.epub", {"a.xhtml": "", "b.xhtml": ""}, more=more))
    assert texts(book) == {"1": ["Größe"], "2": ["Maß"]}


# ------------------------------------------------------------ HTML, Markdown, text, DOCX


def test_html_is_read_by_headings_with_tables_row_by_row_and_code_announced(tmp_path):
    document = written(
        tmp_path,
        "a.html",
        "<!doctype html><html lang=en><title>The page</title><nav>Menu</nav>"
        "<div role=navigation><p>Next</p></div><h1>The page</h1>"
        "<p>A <b>bold</b> <a href='https://example.org'>link</a>.<h2>First</h2><ul><li>one<li>two"
        "</ul><blockquote><p>Quoted.</blockquote><h2>Second</h2><table><tr><th>Name<th>Price<tr>"
        "<td><p>Apple</p><td>2&nbsp;€</table><pre>a = 1\nb = 2\n</pre><p>x<br>y</p>",
    )
    assert texts(document, kinds=True) == {
        "The page": ["heading: The page", "A bold link."],
        "First": ["heading: First", "one", "two", "quote: Quoted."],
        "Second": [
            *("heading: Second", "table: Name; Price", "table: Apple; 2 €", "code: Code: 2 lines."),
            "x y",
        ],
    }


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        (
            "a.html",  # a table that only places the text on a page
            "<table><tr><td>Menu<td><h2>One</h2><p>First.<p>Second.<tr><td>Alone.</table>",
            {"a": ["Menu", "heading: One", "First.", "Second.", "Alone."]},
        ),
        (
            "a.html",
            "<head><title>T</title></head><body><h2>Menu</h2><main><p>Said.</main><p>No",
            {"T": ["Said."]},
        ),
        ("a.html", "<p>Menu</p><main hidden>A.</main><main>The text.</main>", {"a": ["The text."]}),
        ("a.html", "<p>Menu</p><main></main><main>The text.</main>", {"a": ["The text."]}),
        (
            "a.html",
            "<html lang='fr'><p>Voici.<pre>a\nb</pre>",
            {"a": ["Voici.", "code: Code : 2 lignes."]},
        ),
        (
            "a.md",
            "---\ntitle: x\n---\n# Title\n\n## One\nSome *emphasis*, `code` and\na [link](http://x.y)."
            "\n\n```python\nx\n```\n\n## Two\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n> Quoted.\n",
            {
                "One": [
                    *("heading: Title", "heading: One", "Some emphasis, code and a link."),
                    "code: Code.",
                ],
                "Two": ["heading: Two", "table: a; b", "table: 1; 2", "quote: Quoted."],
            },
        ),
        (
            "a.txt",
            "A Story\n\nCHAPTER I. Down\n\nA line that\nwas wrapped."
            "\n\nAnother.\n\nChapter 2\n\nEnd.",
            {
                "a": ["A Story"],
                "CHAPTER I. Down": [
                    *("heading: CHAPTER I. Down", "A line that was wrapped.", "Another."),
                ],
                "Chapter 2": ["heading: Chapter 2", "End."],
            },
        ),
    ],
)
def test_pages_markdown_and_texts_are_read_by_chapters(name, text, expected, tmp_path):
    assert texts(written(tmp_path, name, text), kinds=True) == expected


def test_long_lines_of_a_text_are_paragraphs_and_a_long_text_is_divided(tmp_path):
    line = "A sentence with some words in it. " * 20
    document = written(tmp_path, "a.txt", "\n".join([line] * 200))
    assert document.chapter_titles == ("1", "2", "3")
    assert sum(len(document.chapter(index).paragraphs) for index in range(3)) == 203


@pytest.mark.parametrize("name", ["caf\udce9 2.txt", "caf\n2.txt", "\udce9.txt"])
def test_a_document_without_a_title_is_named_after_its_file_however_that_is_written(name, tmp_path):
    document = written(tmp_path, name, "Hello there.")
    assert document.title.isprintable()
    assert document.title.encode() in (b"caf 2", b"")


def test_a_long_text_with_one_heading_is_read_to_its_end(tmp_path):
    document = written(tmp_path, "a.txt", "Preface\n\n" + "A line of words.\n\n" * 150_000 + "End.")
    last = document.chapter(len(document.chapter_titles) - 1)
    assert last.paragraphs[-1].text == "End."


def word_document(path: Path, body: str) -> Document:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("word/document.xml", f"<w:document>{body}</w:document>")
    return open_document(path)


def word_paragraph(text: str, style: str = "", more: str = "") -> str:
    named = f'<w:pPr><w:pStyle w:val="{style}"/></w:pPr>' if style else ""
    runs = f"<w:r><w:t>{text[:2]}</w:t>{more}</w:r><w:r><w:t>{text[2:]}</w:t></w:r>"
    return f"<w:p>{named}{runs}</w:p>"


def test_a_text_box_of_word_is_read_once_and_behind_its_paragraph(tmp_path):
    inner = word_paragraph("The box", "Heading1") + word_paragraph("In it.")
    box = f"<w:txbxContent>{inner}</w:txbxContent>"
    both = f"<mc:Choice>{box}</mc:Choice><mc:Fallback><w:pict>{box}</w:pict></mc:Fallback>"
    body = word_paragraph("Around it.", more=f"<mc:AlternateContent>{both}</mc:AlternateContent>")
    document = word_document(tmp_path / "a.docx", f"{body}<w:tr><w:tc/></w:tr>")
    assert [*texts(document, kinds=True).values()] == [["Around it.", "heading: The box", "In it."]]


def test_word_documents_are_read(tmp_path):
    cells = "".join(f"<w:tc>{word_paragraph(text)}</w:tc>" for text in ("Name", "Price"))
    rest = word_paragraph("Some text.") + f"<w:tr>{cells}</w:tr>"
    document = word_document(tmp_path / "a.docx", word_paragraph("Title", "Heading1") + rest)
    assert texts(document, kinds=True) == {
        "Title": ["heading: Title", "Some text.", "table: Name; Price"]
    }


# ---------------------------------------------------------------------- what a document is


@pytest.mark.skipif(not hasattr(psutil.Process, "num_fds"), reason="only POSIX has descriptors")
def test_a_folder_is_refused_and_leaves_nothing_open(tmp_path):
    process = psutil.Process()
    before = process.num_fds()
    with pytest.raises(InvalidInput, match="cannot be opened"):
        open_document(tmp_path)
    assert process.num_fds() == before


def test_a_moved_or_renamed_document_is_the_same_and_a_changed_one_is_another(tmp_path):
    first = written(tmp_path, "a.txt", "Text.")
    (tmp_path / "a.txt").rename(tmp_path / "b.txt")
    assert open_document(tmp_path / "b.txt").key == first.key
    assert written(tmp_path, "b.txt", "Text!").key != first.key


def test_chapters_are_parsed_when_needed_and_the_last_ones_kept(tmp_path):
    pages = {f"{n}.xhtml": f"<p>Page {n}." for n in range(5)}
    document = open_document(epub(tmp_path / "b.epub", pages))
    first = document.chapter(0)
    assert document.chapter(0) is first
    for index in range(1, 4):
        document.chapter(index)
    assert document.chapter(0) is not first
    assert document.chapter(0) == first


def test_a_document_that_changed_or_went_says_so(tmp_path):
    document = written(tmp_path, "a.txt", "Text.")
    os.utime(tmp_path / "a.txt", (1, 1))
    with pytest.raises(InvalidInput, match="has changed"):
        document.chapter(0)
    (tmp_path / "a.txt").unlink()
    with pytest.raises(InvalidInput, match="cannot be opened"):
        document.chapter(0)


def test_a_place_beyond_the_end_is_the_beginning(tmp_path):
    document = written(tmp_path, "a.md", "# A\n\nOne two.\n\n# B\n\nThree.\n")
    assert document.existing(Place(1, 0, 1)) == Place(1, 0, 1)
    assert document.existing(Place(2, 0, 1)) == Place()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One two. Three!", ["One two.", "Three!"]),
        ("Mr. Smith and Dr. Jones (e.g. J. Doe) left. They ran.", None),
        ("“Is it?” she asked. “Yes.” He went.", ["“Is it?” she asked.", "“Yes.”", "He went."]),
        ("It cost 3.50 on 5. May… then nothing.", ["It cost 3.50 on 5. May… then nothing."]),
        ("See Fig. 3 and Smith et al. 2009. ¿Qué? Año.", None),
        ("no end", ["no end"]),
    ],
)
def test_sentences_are_told_apart(text, expected, tmp_path):
    paragraph = written(tmp_path, "a.txt", text).chapter(0).paragraphs[0]
    found = _sentences(paragraph)
    if expected is None:
        assert len(found) == 2 + text.count("¿")
    else:
        assert found == expected


def _sentences(paragraph: Paragraph) -> list[str]:
    words = paragraph.text.split()
    return [" ".join(words[first:end]) for first, end in paragraph.sentences]


def test_a_pdf_names_its_language_and_a_scan_does_not_open(tmp_path):
    path = pdf(tmp_path / "a.pdf", [[Line(72, 700, "Ein Text.")]], title="Titel")
    path.write_bytes(path.read_bytes().replace(b"/Type /Catalog", b"/Type /Catalog /Lang (de-DE)"))
    document = open_document(path)
    assert (document.title, document.language) == ("Titel", "de")
