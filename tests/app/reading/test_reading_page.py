"""The page of documents: its list, the text with the word that is heard, keys, what is posted."""

import sys
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QTextCursor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.reading.page import ReadingPage
from engine import api
from tests.app.test_window import drop
from tests.help.fakes.reading import FakeDocument
from tests.help.window import tell

LONG = "A sentence of many words that wraps at any width. " * 20
BOOK = FakeDocument(["# One", "Benedict slept. Dora left.", *[LONG] * 40], ["# Two", "The end."])
OPENED = api.DocumentOpened("key", "A Book", "Ada", "en", BOOK.chapter_titles, api.Place(0, 1))
ENTRY = api.ReadDocument(
    "key", "A Book", "Ada", Path("/x/book.epub"), api.Place(1), 5.0, "Chapter 2", 2
)


@pytest.fixture
def page(window, posted) -> ReadingPage:
    """The page with the open document."""
    tell(window, OPENED, api.ChapterShown("key", 0, BOOK.chapters[0]))
    tell(window, api.DocumentsListed((ENTRY,)))
    opened = window.reading.open()
    QApplication.processEvents()
    posted.clear()
    return opened


def marked(page: ReadingPage) -> str:
    return "".join(each.cursor.selectedText() for each in page.book.text.extraSelections())


def is_in_sight(page: ReadingPage) -> bool:
    text = page.book.text
    (selection,) = text.extraSelections()
    return text.viewport().rect().contains(text.cursorRect(selection.cursor).center())


def test_a_document_that_is_dropped_on_the_window_is_opened_and_a_recording_is_a_voice(
    window, posted, tmp_path
):
    for name in ("book.epub", "voice.wav"):
        (tmp_path / name).write_bytes(b"")
        drop(window, tmp_path / name)
    assert [each for each in posted if isinstance(each, api.OpenDocument | api.AddVoice)] == [
        api.OpenDocument(tmp_path / "book.epub"),
        api.AddVoice(tmp_path / "voice.wav"),
    ]


def test_an_opened_document_shows_its_chapter_and_asks_for_no_other(window, posted):
    window.on_event(OPENED)
    assert posted.count(api.ShowChapter(0)) == 1
    window.on_event(api.PlaceReached(api.Place(0, 1, 1)))
    assert posted.count(api.ShowChapter(0)) == 1
    window.on_event(api.ChapterShown("another", 0, BOOK.chapters[1]))
    page = window.reading.open()
    assert page.book.text.toPlainText() == ""
    window.on_event(api.ChapterShown("key", 0, BOOK.chapters[0]))
    assert page.book.text.toPlainText().split()[:3] == ["One", "Benedict", "slept."]
    assert marked(page) == "slept."
    window.on_event(api.PlaceReached(api.Place(1)))
    assert posted[-1] == api.ShowChapter(1)
    assert page.book.chapters.currentIndex() == 1


def test_the_word_is_marked_and_kept_in_sight_unless_the_person_scrolls_away(window, page, qtbot):
    for place in (api.Place(0, 1, 2), api.Place(0, 30, 100), api.Place(0, 41, 190), api.Place()):
        window.on_event(api.PlaceReached(place))
        assert marked(page) == BOOK.chapters[0].paragraphs[place.paragraph].text.split()[place.word]
        assert is_in_sight(page)
    bar = page.book.text.verticalScrollBar()
    bar.triggerAction(bar.SliderAction.SliderToMaximum)
    qtbot.waitUntil(lambda: not page.book.text._follows)
    window.on_event(api.PlaceReached(api.Place(0, 1)))
    assert not is_in_sight(page)
    page.book.skip(1)
    assert is_in_sight(page)


@pytest.mark.parametrize("name", ["text", "play"])
def test_the_keys_pause_go_on_and_skip_wherever_the_focus_is(page, posted, name):
    where = getattr(page.book, name)
    page.activateWindow()
    at, modifiers = page.windowHandle(), Qt.KeyboardModifier
    where.setFocus()
    for key, modifier in (
        (Qt.Key.Key_Space, modifiers.NoModifier),
        (Qt.Key.Key_Right, modifiers.NoModifier),
        (Qt.Key.Key_Left, modifiers.ShiftModifier),
        (Qt.Key.Key_Right, modifiers.ControlModifier),
    ):
        QTest.keyClick(at, key, modifier)
    page.on_event(api.ReadingChanged(aloud=True))
    QTest.keyClick(at, Qt.Key.Key_Space)
    assert posted == [
        api.ReadAloud(),
        api.SkipReading(api.Unit.SENTENCE, 1),
        api.SkipReading(api.Unit.PARAGRAPH, -1),
        api.SkipReading(api.Unit.CHAPTER, 1),
        api.PauseReading(),
    ]


@pytest.mark.parametrize("word", [0, 2])
def test_a_click_starts_at_its_word(page, posted, word):
    text = page.book.text
    block = text.document().findBlockByNumber(2)
    at = sum(len(each) + 1 for each in block.text().split()[:word]) + 2
    cursor = QTextCursor(block)
    cursor.setPosition(block.position() + at)
    point: QPoint = text.cursorRect(cursor).center()
    QTest.mouseClick(text.viewport(), Qt.MouseButton.LeftButton, pos=point)
    assert posted == [api.ReadAloud(api.Place(0, 1, word))]


def test_words_behind_emoji_are_marked_and_clicked(window, page, posted):
    """Qt counts most emoji as two characters."""
    text = "\N{GRINNING FACE}\N{GRINNING FACE}\N{GRINNING FACE}\N{GRINNING FACE} one two three."
    window.on_event(api.ChapterShown("key", 0, FakeDocument(["# One", text]).chapters[0]))
    window.on_event(api.PlaceReached(api.Place(0, 1, 2)))
    assert marked(page) == "two"
    (selection,) = page.book.text.extraSelections()
    selection.cursor.setPosition(selection.cursor.selectionStart())
    point = page.book.text.cursorRect(selection.cursor).center()
    QTest.mouseClick(page.book.text.viewport(), Qt.MouseButton.LeftButton, pos=point)
    assert posted == [api.ReadAloud(api.Place(0, 1, 2))]


def test_a_click_before_the_next_chapter_is_there_starts_in_the_one_that_is_shown(
    window, page, posted
):
    window.on_event(api.PlaceReached(api.Place(1)))
    page.book.text.chosen.emit(1, 1)
    assert posted[-1] == api.ReadAloud(api.Place(0, 1, 1))


def test_a_chapter_is_chosen_and_the_document_is_closed(window, page, posted):
    page.book.chapters.activated.emit(1)
    page.book.close_book.click()
    assert posted == [api.ReadAloud(api.Place(1)), api.CloseDocument()]
    window.on_event(api.DocumentClosed())
    assert not page.book.isVisible()
    assert page.rows["key"].isVisible()


def test_the_list_opens_and_removes_documents(window, page, posted):
    window.on_event(api.DocumentClosed())
    row = page.rows["key"]
    assert row.facts.text() == "Part 2 of 2 · Chapter 2"
    row.open.click()
    row.remove.trigger()
    assert posted == [api.OpenDocument(Path("/x/book.epub")), api.RemoveDocument("key")]
    window.on_event(api.DocumentsListed(()))
    assert page.nothing.isVisible()


def test_a_document_that_is_refused_is_explained_on_the_page(window):
    page = window.reading.open()
    window.on_event(api.DocumentRefused("b.epub", "The document is damaged.", "Get it again."))
    assert page.fault.text() == "b.epub: The document is damaged. Get it again."
    assert page.fault.isVisible()
    window.on_event(OPENED)
    assert not page.fault.isVisible()


# Stands for `rubato read`: writes the file that it is asked for, or says why not.
EXPORTS = """
import json, pathlib, sys
command, document, _, out, _ = sys.argv[1:]
print(json.dumps({"part": 0.5}), file=sys.stderr, flush=True)
if out.endswith(".mp3"):
    print(json.dumps({"texts": [["No room.", {}], ["Make room.", {}]]}))
else:
    pathlib.Path(out).write_text(f"{command} {document}")
    print(json.dumps({"file": out}))
"""


@pytest.mark.parametrize("suffix", ["m4b", "mp3"])
def test_a_document_is_exported_by_another_process(page, qtbot, tmp_path, suffix):
    page.on_event(replace(OPENED, path=Path("/x/book.epub")))
    export, out, shares = page.book.export, tmp_path / f"a.{suffix}", []
    export._job._command = [sys.executable, "-c", EXPORTS]
    export._job.reported.connect(lambda _: shares.append(export.bar.value() / export.bar.maximum()))
    dialog = export.choose()
    page.on_event(replace(OPENED, path=Path("/x/other.epub")))  # while the dialog is open
    with qtbot.waitSignal(export._job.ended, timeout=20_000):
        dialog.fileSelected.emit(str(out))
        assert export.bar.isVisible()
    dialog.close()
    assert shares == [0.5]
    assert not export.bar.isVisible()
    if suffix == "mp3":
        assert export.words.text() == "No room.\nMake room."
    else:
        assert out.read_text() == "read /x/book.epub"
        assert export.words.text() == f"{out} is complete."


def test_a_stopped_export_says_how_to_go_on(page):
    export = page.book.export
    export._job._command = [sys.executable, "-c", "import threading; threading.Event().wait()"]
    export.start(Path("/x/book.epub"), Path("/x/a.m4b"))
    assert export.act.text() == "&Cancel"
    export.act.click()
    assert export.act.text() == "&Export…"
    assert not export.bar.isVisible()
    assert "go on" in export.words.text()


def test_a_private_document_is_not_exported(page, window):
    window.on_event(replace(OPENED, private=True))
    assert not page.book.export.act.isEnabled()


def test_texts_of_a_document_are_not_translated():
    from app.language import choose, translate_event

    choose("de")
    shown = api.ChapterShown("key", 0, FakeDocument(["# Settings", "Models"]).chapters[0])
    assert translate_event(shown) is shown
    choose("en")
