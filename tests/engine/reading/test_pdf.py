"""Pages of two columns are read in order, whatever the order in which they were drawn."""

import random
from collections.abc import Sequence
from pathlib import Path

import pytest

from engine.reading.document import open_document
from engine.reading.parsers.blocks import Kind
from tests.help.machine.documents import Line, pdf

WORDS = tuple(
    "time order people column narrow morning garden answer window little reading water letter "
    "paper measure simple engine voice speak common river mountain early figure question".split()
)
LEFT, RIGHT, TOP, LEADING = 60.0, 318.0, 700.0, 12.0
WIDTH = 42  # characters of a line


class _Paper:
    """A paper of two columns: its paragraphs in order, and the lines of its pages."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self.paragraphs: list[str] = []
        self.headings: list[str] = []
        self.pages: list[list[Line]] = []
        self._slots: list[tuple[float, float]] = []
        self._add_page(600)
        self.pages[-1] += [
            Line(LEFT + 20, 690, "How Papers Are Read Aloud by Machines", 18, bold=True),
            Line(LEFT + 20, 660, "A. Writer and B. Author, University of Reading", 11),
        ]

    def _add_page(self, top: float = TOP) -> None:
        number = len(self.pages) + 1
        head = Line(LEFT, 740, f"A. Writer and B. Author{' ' * 8}Journal of Papers {number}", 8)
        self.pages.append([head, Line(300, 30, str(number), 9)])
        rows = [top - row * LEADING for row in range(int((top - 100) / LEADING))]
        self._slots = [(x, y) for x in (LEFT, RIGHT) for y in rows]

    def _place(self, text: str, *, indent: float = 0, bold: bool = False) -> None:
        if not self._slots:
            self._add_page()
        x, y = self._slots.pop(0)
        self.pages[-1].append(Line(x + indent, y, text, 10, bold))

    def heading(self, text: str) -> None:
        self.headings.append(text)
        self._skip()
        self._place(text, bold=True)
        self._skip()

    def _skip(self) -> None:
        if self._slots and self._slots[0][1] < TOP:
            self._slots.pop(0)

    def paragraph(self, words: int) -> None:
        text = " ".join(self._random.choices(WORDS, k=words)).capitalize() + "."
        self.paragraphs.append(text)
        for number, line in enumerate(_wrapped(text, self._random)):
            self._place(line, indent=12 if number == 0 else 0)

    def write(self, path: Path, *, shuffled: bool) -> Path:
        for page in self.pages if shuffled else ():
            self._random.shuffle(page)
        return pdf(path, self.pages)


def _wrapped(text: str, chance: random.Random) -> list[str]:
    """Lines of a text; some words are divided at their ends."""
    lines = [""]
    for word in text.split():
        if len(lines[-1]) + len(word) + 1 <= WIDTH:
            lines[-1] = f"{lines[-1]} {word}".strip()
        elif len(word) > 6 and chance.random() < 0.5:
            lines[-1] += f" {word[:3]}-"
            lines.append(word[3:])
        else:
            lines.append(word)
    return lines


def _read(path: Path) -> tuple[list[str], list[str]]:
    document = open_document(path)
    chapters = [document.chapter(index) for index in range(len(document.chapter_titles))]
    found = [each for chapter in chapters for each in chapter.paragraphs]
    return (
        [each.text for each in found if each.kind is Kind.TEXT],
        [each.text for each in found if each.kind is Kind.HEADING],
    )


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("shuffled", [False, True])
def test_a_paper_is_read_column_by_column(seed, shuffled, tmp_path):
    paper = _Paper(seed)
    for number in range(1, 6):
        paper.heading(f"{number} Heading of a part")
        for _ in range(4):
            paper.paragraph(25 + seed * 20 + number)
    texts, headings = _read(paper.write(tmp_path / "a.pdf", shuffled=shuffled))
    assert [text for text in texts if text in set(paper.paragraphs)] == paper.paragraphs
    assert [text for text in texts if "University" not in text] == paper.paragraphs
    assert [each for each in headings if each in paper.headings] == paper.headings


def test_a_caption_and_a_wide_table_do_not_divide_a_sentence(tmp_path):
    left = ["This sentence begins in the left column", "and it does not end before the foot of"]
    right = ["the right one, where it ends at last.", "Another one follows it there, also long."]
    filler = [f"Line {n} of the column has some words too." for n in range(12)]
    lines = [Line(LEFT, 700 - 12 * n, text) for n, text in enumerate([*filler, *left])]
    lines += [Line(LEFT, 500, "Figure 1: A caption in small letters.", 8)]
    lines += [Line(RIGHT, 700 - 12 * n, text) for n, text in enumerate([*right, *filler])]
    texts, _ = _read(pdf(tmp_path / "a.pdf", [lines]))
    whole = " ".join(texts)
    assert " ".join([*left, right[0]]) in whole
    assert "Figure 1: A caption in small letters." in texts


def test_a_short_last_column_stands_where_those_of_other_pages_do(tmp_path):
    def page(number: int, right: int) -> list[Line]:
        return [
            Line(
                x, 700 - 12 * n, f"{side} line {n} {WORDS[(n + number) % 25]} has a few more words,"
            )
            for x, side, count in ((LEFT, "Left", 40), (RIGHT, "right", right))
            for n in range(count)
        ]

    pages = [page(0, 40), page(1, 40), [], page(2, 2)]
    texts, _ = _read(pdf(tmp_path / "a.pdf", pages))
    last = " ".join(texts)[-200:]
    assert last.index("Left line 39") < last.index("right line 0") < last.index("right line 1 ")


def test_a_table_in_one_column_of_text_is_read_row_by_row(tmp_path):
    def row(y: float, *cells: str) -> list[Line]:
        return [Line(100 + 130 * at, y, cell) for at, cell in enumerate(cells)]

    prose = "This is a line of prose that goes from one margin of the page to the other one here"
    lines = [Line(72, 700 - 12 * n, prose) for n in range(20)]
    lines += [piece for n in range(8) for piece in row(420 - 12 * n, f"Row {n}", "one", "two")]
    texts, _ = _read(pdf(tmp_path / "a.pdf", [lines]))
    assert "Row 0 one two Row 1 one two" in " ".join(texts)


def test_heads_and_page_numbers_are_left_out_and_a_number_of_a_heading_is_not(tmp_path):
    pages = [
        [
            Line(72, 750, "The Book of Pages"),
            Line(500, 750, str(n)),
            Line(72, 60, f"Page {n} of 5", 8),
            Line(72, 700, str(n), 14, bold=True),
            Line(100, 700, f"Chapter about {WORDS[n]}", 14, bold=True),
            *(Line(72, 660 - 14 * row, f"Text {WORDS[row]} of page {n}.") for row in range(5)),
        ]
        for n in range(1, 6)
    ]
    texts, headings = _read(pdf(tmp_path / "a.pdf", pages))
    assert headings == [f"{n} Chapter about {WORDS[n]}" for n in range(1, 6)]
    assert "Book" not in " ".join(texts)
    assert "Page" not in " ".join(texts)
    assert len(texts) == 25 or " ".join(texts).count("Text") == 25


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (["A divided exam-", "ple of it."], "A divided example of it."),
        (["A well-known thing is well-", "known here."], "A well-known thing is well-known here."),
        (["The Anglo-", "American way."], "The Anglo-American way."),
        (["From 1914-", "18 it was so."], "From 1914- 18 it was so."),
    ],
)
def test_words_divided_at_the_end_of_a_line_become_whole(lines, expected, tmp_path):
    drawn = [Line(72, 700 - 12 * n, text) for n, text in enumerate(lines)]
    assert _read(pdf(tmp_path / "a.pdf", [drawn]))[0] == [expected]


def _pages(count: int) -> list[Sequence[Line]]:
    return [
        [Line(72, 700, f"Heading {n}", 16, bold=True), Line(72, 670, f"Text of {n}.")]
        for n in range(count)
    ]


def test_bookmarks_are_the_chapters(tmp_path):
    marks = [("Heading 1", 1), ("Heading 2", 2), ("Heading 4", 4)]
    document = open_document(pdf(tmp_path / "a.pdf", _pages(6), marks, title="Six"))
    assert document.chapter_titles == ("Six", "Heading 1", "Heading 2", "Heading 4")
    texts = [
        [each.text for each in document.chapter(index).paragraphs]
        for index in range(len(document.chapter_titles))
    ]
    assert texts[2] == ["Heading 2", "Text of 2.", "Heading 3", "Text of 3."]
    assert [text for chapter in texts for text in chapter if "Text" in text] == [
        f"Text of {n}." for n in range(6)
    ]


def test_two_chapters_on_one_page_begin_at_their_headings_even_if_one_is_not_found(tmp_path):
    page = [
        line
        for n, name in enumerate(("First", "Second", "Third"))
        for line in (
            Line(72, 700 - 100 * n, name, 16, bold=True),
            Line(72, 670 - 100 * n, f"Text of {name}."),
        )
    ]
    marks = [("First", 0), ("Not there", 0), ("Third", 0)]
    document = open_document(pdf(tmp_path / "a.pdf", [page], marks))
    texts = [[each.text for each in document.chapter(index).paragraphs] for index in range(3)]
    assert [text for chapter in texts for text in chapter] == [
        *("First", "Text of First.", "Second", "Text of Second.", "Third", "Text of Third.")
    ]
    assert texts[2] == ["Third", "Text of Third."]


def test_a_long_pdf_without_bookmarks_is_divided_and_nothing_is_lost_or_read_twice(tmp_path):
    document = open_document(pdf(tmp_path / "a.pdf", _pages(50), title="Fifty"))
    assert document.chapter_titles == ("Fifty", "Fifty (2)")
    texts = [each.text for index in range(2) for each in document.chapter(index).paragraphs]
    assert [text for text in texts if "Text" in text] == [f"Text of {n}." for n in range(50)]


def test_pages_without_text_are_an_empty_chapter(tmp_path):
    pages = [*_pages(2), *([[]] * 60), *_pages(2)]
    document = open_document(pdf(tmp_path / "a.pdf", pages))
    found = [document.chapter(index).paragraphs for index in range(len(document.chapter_titles))]
    assert found[1] == ()
    assert found[0]
    assert found[-1]


@pytest.mark.parametrize("step", [1, 5])
def test_the_numbers_of_lines_are_left_out(step, tmp_path):
    lines = [
        Line(72, 700 - 12 * n, f"A line of a manuscript about {WORDS[n % len(WORDS)]} and more,")
        for n in range(40)
    ]
    numbers = [Line(40, 700 - 12 * n, f"{n + 101}", 7) for n in range(0, 40, step)]
    texts, _ = _read(pdf(tmp_path / "a.pdf", [lines + numbers]))
    assert not any(char.isdigit() for char in "".join(texts))


@pytest.mark.parametrize(
    ("turned", "matrix"),
    [(90, "0 1 -1 0 612 0"), (180, "-1 0 0 -1 612 792"), (270, "0 -1 1 0 0 792")],
)
def test_a_page_that_is_turned_to_be_shown_is_read(turned, matrix, tmp_path):
    lines = [Line(72, 500 - 12 * n, f"Line {n} of a page,") for n in range(6)]
    path = pdf(tmp_path / "a.pdf", [lines])
    content = path.read_bytes()
    length = content[content.index(b"/Length ") :].split()[1]
    begun = f"{matrix} cm\n".encode()
    content = content.replace(b"stream\n", b"stream\n" + begun, 1)
    content = content.replace(b"/Length " + length, b"/Length %d" % (int(length) + len(begun)))
    path.write_bytes(content.replace(b"/Type /Page ", b"/Type /Page /Rotate %d " % turned))
    assert _read(path)[0] == [" ".join(f"Line {n} of a page," for n in range(6))]


def test_letters_beyond_the_first_plane_are_read(tmp_path):
    path = pdf(tmp_path / "a.pdf", [[Line(72, 700, "Let x be two.")]])
    table = b"1 beginbfchar <78> <D835DC65> endbfchar"  # an italic x of mathematics
    stream = b"99 0 obj << /Length %d >> stream\n%s\nendstream endobj\nxref" % (len(table), table)
    content = path.read_bytes().replace(b"xref", stream, 1)
    path.write_bytes(content.replace(b"/WinAnsiEncoding", b"/WinAnsiEncoding /ToUnicode 99 0 R"))
    assert _read(path)[0] == ["Let \N{MATHEMATICAL ITALIC SMALL X} be two."]
