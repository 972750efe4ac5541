"""The list of names in the settings."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QFileDialog

from app.settings.names import NamesRow
from engine import names_file
from engine.api import PreviewVoice
from engine.names_file import load
from engine.text import names as entries
from engine.text.names import Name


@pytest.fixture(autouse=True)
def own_list(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("RUBATO_CONFIG", str(tmp_path))
    names_file.add([Name("Siobhan", "shi-VAWN"), Name("Paris", "pah-REE", "fr")])
    return tmp_path


@pytest.fixture
def row(window) -> Iterator[NamesRow]:
    dialog = window.open_settings(None)
    pages = [dialog.tabs.tabText(number) for number in range(dialog.tabs.count())]
    dialog.tabs.setCurrentIndex(pages.index("Names"))
    QApplication.processEvents()
    assert dialog.names.isVisible()
    return dialog.names


def shown(row: NamesRow) -> list[str]:
    return [row.list.item(place).text() for place in range(row.list.count())]


def fill(row: NamesRow, written: str, said: str) -> None:
    row.written.setText(written)
    row.said.setText(said)


def test_names_are_shown_added_changed_and_removed(row):
    assert shown(row) == ["Paris  ·  pah-REE  ·  Français", "Siobhan  ·  shi-VAWN"]
    fill(row, "Niamh", "neev")
    QTest.keyClick(row.said, Qt.Key.Key_Return)
    assert shown(row)[0] == "Niamh  ·  neev"
    assert row.list.currentRow() == 0
    fill(row, "Niamh", "neeve")
    row.save.click()
    assert shown(row)[0] == "Niamh  ·  neeve"
    row.language.setCurrentIndex(row.language.findData("es"))
    row.save.click()
    assert load()[-1] == Name("Niamh", "neeve", "es")
    assert len(load()) == 3
    row.list.setFocus()
    QTest.keyClick(row.list, Qt.Key.Key_Delete)
    assert [each.written for each in load()] == ["Siobhan", "Paris"]
    assert row.list.currentItem().text().startswith("Paris")


def test_a_chosen_name_fills_the_fields_and_is_heard_as_the_fields_have_it(row, posted):
    row.list.setCurrentRow(1)
    assert (row.written.text(), row.said.text()) == ("Siobhan", "shi-VAWN")
    row.said.setText("shuh-VAWN")
    row.try_it.click()
    assert posted[-1] == PreviewVoice("", "Siobhan", said="shuh-VAWN", language="")
    row.language.setCurrentIndex(row.language.findData("fr"))
    row.try_it.click()
    assert posted[-1].language == "fr"
    assert load()[0].said == "shi-VAWN"


def test_a_refused_name_is_explained_and_changes_nothing(row, own_list):
    before = load()
    fill(row, "Xi", "/3/")
    row.save.click()
    assert "'3' is not a phone" in row.words.text()
    assert load() == before
    fill(row, "", "")
    assert not row.save.isEnabled()
    assert not row.try_it.isEnabled()
    (own_list / names_file.FILE).write_text("…\n", encoding="utf-8")
    fill(row, "Xi", "shee")
    row.save.click()
    assert "Line 1" in row.words.text()


def test_lists_are_imported_and_exported(row, tmp_path):
    file = tmp_path / "more.csv"
    file.write_text("Aoife,EE-fuh\n", encoding="utf-8")
    row.import_.click()
    (dialog,) = row.findChildren(QFileDialog)
    dialog.fileSelected.emit(str(file))
    dialog.reject()
    assert row.words.text() == "1 name was imported."
    assert shown(row)[0] == "Aoife  ·  EE-fuh"
    out = tmp_path / "out.tsv"
    row.export.click()
    for each in row.findChildren(QFileDialog):
        if each.acceptMode() is QFileDialog.AcceptMode.AcceptSave:
            each.fileSelected.emit(str(out))
            each.reject()
    assert entries.read(out.read_text("utf-8")) == load()
