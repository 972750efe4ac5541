"""The voices of the papers on the page of voices: listed in order, and used as a model is."""

from PySide6.QtWidgets import QApplication, QWidget

from app.voice.page import NAMES, VoicesPage
from engine.api import SYSTEMS, ModelSettled, ModelsListed, Recommendation, UseModel
from tests.fakes_engine import BUILT_IN, entry

NO_ADVICE = (Recommendation(), "")


def listed(in_use: str) -> ModelsListed:
    titles = {"starter": "Rubato's own voice", **{each.name: each.title for each in SYSTEMS}}
    entries = [
        entry(name, titles[name], "voice", in_use=name == in_use, **BUILT_IN)
        for name in sorted(titles)
    ]
    return ModelsListed((*entries, entry("kokoro", "Kokoro", "voice", megabytes=107)), *NO_ADVICE)


def test_they_are_listed_and_chosen(qtbot, theme, posted):
    parent = QWidget()
    qtbot.addWidget(parent)
    page = VoicesPage(posted.append, theme, parent)
    page.open_beside()
    assert not page.papers.rows
    page.takes(listed(in_use="starter"))
    assert tuple(page.papers.rows) == NAMES
    row = page.papers.rows["smlle"]
    posted.clear()
    row.act.click()
    assert posted == [UseModel("smlle")]
    page.takes(ModelSettled("smlle", "SMLLE speaks from now on."))
    page.takes(listed(in_use="smlle"))
    assert row.said.text() == "SMLLE speaks from now on."
    assert "in use" in row.title.text()
    QApplication.processEvents()  # it is laid out
    assert page.papers.rows["starter"].act.isVisible()
    page.close()
