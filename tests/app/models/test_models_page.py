"""The page of models: what each row offers, what is posted, and how a fetch is followed."""

from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.look.label import WrappingLabel
from app.models import ModelsPage
from engine import api
from tests.app.test_window import drop
from tests.help.fakes.engine import HERE, LIBRARY, entry, lacking_turn, spoken_turn
from tests.help.window import tell

(LISTED, FETCHING, SETTLED) = LIBRARY


@pytest.fixture
def page(window, posted) -> ModelsPage:
    opened = window.models.open()
    tell(window, LISTED)
    return opened


def test_every_model_is_a_row_with_size_licence_need_and_its_faults(window, page):
    assert set(page.rows) == {each.name for each in LISTED.entries}
    row = page.rows["qwen3-1-7b"]
    assert row.facts.text() == "1.1 GB · licence: Apache-2.0 · needs about 1.8 GB of memory"
    assert "more memory than this computer" in page.rows["qwen3-8b"].remarks.text()
    assert "make llm" in page.rows["/home/me/mine.gguf"].remarks.text()
    assert "0.6 s" in page.rows["whisper-base"].remarks.text()
    window.on_event(FETCHING)
    window.on_event(api.ModelSettled("qwen3-1-7b", "There is not enough space.", failed=True))
    assert (row.said.text(), row.said.property("kind")) == ("There is not enough space.", "danger")
    assert row.act.text() == "Fetch 1.1 GB"


def test_the_list_ends_with_its_last_row_and_cuts_no_line(page):
    for width in (620, 420):
        page.resize(width, 640)
        QApplication.processEvents()
        content = page.recommended.parentWidget()
        last = max(row.geometry().bottom() for row in page.rows.values())
        assert content.height() - last < 20
        labels = [each for each in content.findChildren(WrappingLabel) if each.isVisible()]
        assert not [each for each in labels if each.height() < each.heightForWidth(each.width())]


@pytest.mark.parametrize(
    ("name", "words", "enabled"),
    [
        ("qwen3-1-7b", "Fetch 1.1 GB", True),
        ("voxtream2", "Resume", True),
        ("sphinx", "Use", True),
        ("whisper-base", "", True),  # in use
        ("/home/me/mine.gguf", "Use", False),  # llama.cpp is missing
        ("ollama/llama3.2:3b", "Use", True),
    ],
)
def test_a_row_offers_what_can_be_done(page, name, words, enabled):
    act = page.rows[name].act
    assert (act.text(), act.isEnabled()) == (words, enabled)
    assert act.isVisible() is bool(words)


def test_what_is_pressed_is_posted(page, posted):
    posted.clear()
    page.rows["qwen3-1-7b"].act.click()
    page.rows["sphinx"].act.click()
    page.rows["whisper-base"].verify.trigger()
    page.rows["/home/me/mine.gguf"].remove.trigger()
    assert posted == [
        api.FetchModels(("qwen3-1-7b",)),
        api.UseModel("sphinx"),
        api.VerifyModel("whisper-base"),
        api.RemoveModel("/home/me/mine.gguf"),
    ]


def test_a_fetch_is_followed_and_can_be_paused_from_row_and_card(window, page, posted):
    posted.clear()
    window.on_event(FETCHING)
    row, card = page.rows["qwen3-1-7b"], page.recommended
    assert row.said.text() == "Fetching: 420 MB of 1.1 GB"
    assert row.bar.value() == card.bar.value() == 379
    row.act.click()
    card.act.click()
    assert posted == [api.PauseFetch("qwen3-1-7b")] * 2
    window.on_event(api.ModelSettled("qwen3-1-7b", "Paused: it goes on where it stopped."))
    assert row.said.text().startswith("Paused")
    assert (row.bar.isVisible(), card.bar.isVisible()) == (False, False)


def test_the_recommended_set_says_its_size_before_it_is_fetched(page, posted):
    posted.clear()
    card = page.recommended
    assert card.act.text() == "Fetch 1.1 GB and use"
    assert "Qwen 3 1.7B thinks (1.1 GB)" in card.text.text()
    card.act.click()
    assert posted == [api.FetchRecommended()]


def test_rows_come_go_and_keep_what_they_say(window, page):
    window.on_event(SETTLED)
    row = page.rows["whisper-base"]
    new = entry("/home/me/new.gguf", "new.gguf", "language model", origin=api.Origin.ADDED, **HERE)
    window.on_event(replace(LISTED, entries=(*LISTED.entries[1:], new)))
    QApplication.processEvents()
    assert page.rows["whisper-base"] is row
    assert row.said.text() == "Every file is as it was fetched."
    assert "sphinx" not in page.rows
    assert page.rows["/home/me/new.gguf"].isVisible()


def test_files_and_folders_that_are_dropped_are_added(page, posted, tmp_path):
    posted.clear()
    drop(page, tmp_path / "a.gguf", tmp_path / "folder")
    assert posted == [api.AddModel(tmp_path / "a.gguf"), api.AddModel(tmp_path / "folder")]


def test_what_a_server_says_is_text(window, page):
    title = "<b>bold</b>\x1b[2J\u202ename"
    served = entry("ollama/x", title, "language model", origin=api.Origin.SERVER, **HERE)
    window.on_event(replace(LISTED, entries=(served,)))
    assert page.rows["ollama/x"].title.text().startswith("<b>bold</b>\ufffd[2J\u200bname")
    assert page.rows["ollama/x"].title.textFormat() is Qt.TextFormat.PlainText


def test_the_dead_end_is_a_door_to_the_page_and_a_reply_of_the_same_words_is_none(window, posted):
    model_link = window.conversation.tools.model_link
    said = "I can't answer that without a language model. Try: spell necessary."
    for events, has_door in (
        (spoken_turn(1, "repeat after me", said), False),
        (lacking_turn(2, "who wrote Hamlet"), True),
    ):
        tell(window, *events)
        assert model_link.isVisible() is has_door
    posted.clear()
    QTest.mouseClick(model_link, Qt.MouseButton.LeftButton)
    assert posted == [api.ListModels(servers=True)]
    window.conversation.clear_all()
    assert not model_link.isVisible()
