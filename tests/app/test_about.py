"""The page about the program: licences are collected, diagnostics copied, and nothing else."""

import sys
from collections.abc import Callable, Iterator

import pytest
from PySide6.QtGui import QGuiApplication

from app.about import AboutPage

WORKS = {
    "works": [
        {"name": "rubato", "version": "1.0", "terms": "GPL", "text": "All of\nit"},
        {"name": "odd\nname", "version": "", "terms": "<b>MIT</b>", "text": ""},
    ]
}
KNOWN = {"licences": WORKS, "doctor": {"findings": []}}
ANSWERS = f"import sys, json; print(json.dumps({KNOWN!r}[sys.argv[1]]))"


@pytest.fixture
def page(qtbot, window) -> Iterator[Callable[[str], AboutPage]]:
    opened: list[AboutPage] = []

    def open_page(script: str = ANSWERS) -> AboutPage:
        made = AboutPage(window, [sys.executable, "-c", script])
        opened.append(made)
        made.open_beside()
        return made

    yield open_page
    for each in opened:
        each.close()


def test_it_shows_what_the_program_is_made_of_and_copies_diagnostics_when_asked_for(qtbot, page):
    QGuiApplication.clipboard().setText("before")
    about = page()
    qtbot.waitUntil(lambda: about.works.count() == 2, timeout=20_000)
    shown = [about.works.item(row).text() for row in (0, 1)]
    assert shown == ["rubato 1.0 · GPL", "odd name · <b>MIT</b>"]
    assert about.text.toPlainText() == "All of\nit"
    about.works.setCurrentRow(1)
    assert about.text.toPlainText() == "It came without a text of its licence."
    assert QGuiApplication.clipboard().text() == "before"
    about.copy.click()
    assert not about.copy.isEnabled()
    qtbot.waitUntil(about.copy.isEnabled, timeout=20_000)
    assert QGuiApplication.clipboard().text() == '{\n "findings": []\n}'
    assert about.told.text().startswith("Copied.")


def test_what_cannot_be_collected_is_said(qtbot, window, page):
    entry = next(each for each in window.header.more.menu().actions() if "About" in each.text())
    entry.trigger()
    window.findChild(AboutPage).close()  # while it collects
    about = page("raise SystemExit(3)")
    qtbot.waitUntil(lambda: "could not" in about.works.item(0).text(), timeout=20_000)
    QGuiApplication.clipboard().setText("before")
    about.copy.click()
    qtbot.waitUntil(about.copy.isEnabled, timeout=20_000)
    assert "rubato doctor" in about.told.text()
    assert QGuiApplication.clipboard().text() == "before"
