"""The place in each document is kept."""

import json
import os
import stat
import threading
from pathlib import Path

import pytest

from engine.errors import InvalidInput
from engine.messages.reading import Place
from engine.reading import shelf as shelf_file
from engine.reading.document import Document
from engine.reading.shelf import Shelf


def document(key: str, path: str = "/books/a.epub", chapters: int = 9) -> Document:
    titles = [f"Chapter {n}" for n in range(chapters)]
    outline = {"title": f"Book {key}", "author": "A", "language": "en", "chapters": titles}
    return Document(Path(path), (1, 1), key, outline)


def test_places_are_kept_by_content_newest_first_for_the_owner_alone_until_removed(tmp_path):
    path = tmp_path / "reading" / "documents.json"
    shelf = Shelf(path)
    assert shelf.entries() == ()
    shelf.save_place(document("1"), Place(3, 2, 1), 10.0)
    shelf.save_place(document("2"), Place(0, 0, 5), 20.0)
    shelf.save_place(document("1", "/moved/b.epub"), Place(4, 0, 7), 30.0)
    again = Shelf(path)
    assert again.place("1") == Place(4, 0, 7)
    assert again.place("unknown") == Place()
    first, second = again.entries()
    assert (first.key, first.path, first.chapter, first.chapters) == (
        *("1", Path("/moved/b.epub"), "Chapter 4", 9),
    )
    assert (second.title, second.author, second.read_at) == ("Book 2", "A", 20.0)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    for _ in range(2):
        shelf.remove("1")
    assert [entry.key for entry in shelf.entries()] == ["2"]
    assert "Book 1" not in path.read_text()


ENTRY = (
    b'[{"key": "1", "title": "T", "author": "", "path": "/a", "place": [0, 0, 0],'
    b' "read_at": 1, "chapter": "", "chapters": 1}]'
)
DAMAGED = [b"", b"{", b"\xff\xfe", b"[1]", b'[{"key": "1"}]', b'{"a": 1}', b"null", b"[" * 99_999]
DAMAGED += [
    ENTRY.replace(*change)
    for change in (
        (b"[0, 0, 0]", b"[Infinity, 0, 0]"),
        (b"[0, 0, 0]", b"[0, 0]"),
        (b'"read_at": 1', b'"read_at": "today"'),
        (b'"chapters": 1', b'"chapters": null'),
        (b'"/a"', b"5"),
    )
]


@pytest.mark.parametrize("content", DAMAGED)
def test_a_damaged_list_is_put_aside_and_a_new_one_begun(content, tmp_path):
    path = tmp_path / "documents.json"
    path.write_bytes(content)
    shelf = Shelf(path)
    assert shelf.entries() == ()
    shelf.save_place(document("1"), Place(1), 1.0)
    assert shelf.place("1") == Place(1)
    assert (tmp_path / "documents.damaged").read_bytes() == content


def test_a_crash_while_saving_leaves_the_old_place(tmp_path, monkeypatch):
    shelf = Shelf(tmp_path / "documents.json")
    shelf.save_place(document("1"), Place(1), 1.0)

    def crash(*_: object) -> None:
        raise SystemExit

    monkeypatch.setattr(os, "fsync", crash)
    with pytest.raises(SystemExit):
        shelf.save_place(document("1"), Place(2), 2.0)
    assert Shelf(tmp_path / "documents.json").place("1") == Place(1)
    assert len(list(tmp_path.glob("*.part"))) == 0


def test_a_full_disk_is_a_fault_with_a_hint(tmp_path):
    (tmp_path / "reading").write_text("a file in the way")
    with pytest.raises(InvalidInput, match="cannot be saved") as caught:
        Shelf(tmp_path / "reading" / "documents.json").save_place(document("1"), Place(), 1.0)
    assert caught.value.hint


def test_two_that_save_at_once_lose_nothing(tmp_path):
    def save(number: int) -> None:
        for turn in range(10):
            Shelf(tmp_path / "a.json").save_place(document(str(number)), Place(turn % 9), turn)

    threads = [threading.Thread(target=save, args=(number,)) for number in range(3)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert {entry.key for entry in Shelf(tmp_path / "a.json").entries()} == {"0", "1", "2"}


def test_only_so_many_documents_are_remembered(tmp_path, monkeypatch):
    monkeypatch.setattr(shelf_file, "MOST_ENTRIES", 3)
    shelf = Shelf(tmp_path / "documents.json")
    for number in range(5):
        shelf.save_place(document(str(number)), Place(), float(number))
    assert [entry.key for entry in shelf.entries()] == ["4", "3", "2"]
    assert len(json.loads((tmp_path / "documents.json").read_text())) == 3
