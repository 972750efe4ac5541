"""`rubato read` on the command line."""

import json
from pathlib import Path

import pytest

from app.__main__ import main
from engine import api
from engine.api import Place, ReadingOptions, Shelf, open_document
from engine.runtime.headless import reading_command


@pytest.fixture
def book(tmp_path) -> Path:
    (tmp_path / "book.md").write_text("# One\n\nFirst.\n\n# Two\n\nSecond.\n")
    return tmp_path / "book.md"


@pytest.fixture
def read(monkeypatch) -> list[ReadingOptions]:
    """Read the first chapter's text in no time; what was asked for is collected."""
    asked: list[ReadingOptions] = []

    def reading(keeper: api.PlaceKeeper, settings: api.Settings, options: ReadingOptions) -> None:
        asked.append(options)
        for index in range(2):
            chapter = keeper.document.chapter(index)
            for paragraph in chapter.paragraphs:
                keeper._show(chapter.title, paragraph)

    monkeypatch.setattr(reading_command, "read_aloud", reading)
    return asked


def test_the_text_is_printed_as_it_is_read(book, read, capsys):
    assert main(["read", str(book), "--rate", "5", "--voice", "Emma"]) == 0
    assert capsys.readouterr().out == "== One\n\nFirst.\n\n== Two\n\nSecond.\n\n"
    assert read == [ReadingOptions("Emma", 5.0)]


def test_the_language_of_the_document_goes_along(tmp_path, read):
    (tmp_path / "a.html").write_text("<html lang='it'><p>One.</p><h1>Two</h1><h1>Three</h1></html>")
    main(["read", str(tmp_path / "a.html")])
    assert read == [ReadingOptions(language="it")]


@pytest.mark.parametrize("chapter", ["2", "Two", "tw"])
def test_a_chapter_is_chosen_by_its_number_or_title(chapter, book, read):
    assert main(["read", str(book), "--from", chapter]) == 0
    assert read == [ReadingOptions(start=1)]


@pytest.mark.parametrize(
    ("option", "named"),
    [*((f"--from={each}", "--chapters") for each in (3, 0, "Three", -1)), ("--to=1", "--output")],
)
def test_an_unknown_chapter_and_an_end_without_a_file_are_refused(
    option, named, book, read, capsys
):
    assert main(["read", str(book), option]) == 1
    assert named in capsys.readouterr().err
    assert read == []


def test_the_chapters_are_listed_with_the_place(book, capsys):
    Shelf(api.shelf_path()).save_place(open_document(book), Place(1, 0, 0), 1.0)
    assert main(["read", str(book), "--chapters"]) == 0
    assert capsys.readouterr().out == "    1 One\n*   2 Two\n"
    assert main(["read", str(book), "--chapters", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["chapters"] == ["One", "Two"]
    assert document["place"] == {"chapter": 1, "paragraph": 0, "word": 0}


def test_stopped_it_says_how_to_go_on(book, monkeypatch, capsys):
    def stopped(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(reading_command, "read_aloud", stopped)
    monkeypatch.setattr(reading_command, "export_book", stopped)
    assert main(["read", str(book)]) == 130
    assert "goes on there" in capsys.readouterr().err
    assert main(["read", str(book), "--output", "book.m4b"]) == 130
    assert "goes on there" in capsys.readouterr().err


def test_an_export_of_some_chapters(book, tmp_path, monkeypatch, capsys):
    asked: list[tuple[Path, ReadingOptions]] = []

    def export(
        document: api.Document,
        out: Path,
        settings: api.Settings,
        options: ReadingOptions,
        watch: api.Watch,
    ) -> float:
        asked.append((out, options))
        watch.show(1.0)
        return 90.0

    monkeypatch.setattr(reading_command, "export_book", export)
    out = tmp_path / "b.m4b"
    assert main(["read", str(book), "--output", str(out), "--from", "2", "--to", "2"]) == 0
    assert asked == [(out, ReadingOptions(start=1, end=2))]
    assert capsys.readouterr().out == f"1.5 minutes of speech in {out}.\n"


def test_a_file_that_cannot_be_read_is_an_ordinary_fault(tmp_path, capsys):
    assert main(["read", str(tmp_path / "none.epub")]) == 1
    assert "cannot be opened" in capsys.readouterr().err
    assert main(["read", str(tmp_path / "none.epub"), "--json"]) == 1
    assert "cannot be opened" in json.loads(capsys.readouterr().out)["message"]
