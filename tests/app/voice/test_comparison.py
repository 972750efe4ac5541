"""The page that compares the systems: what it starts, what it shows while they speak, the table."""

import json
from collections.abc import Callable, Iterator

import pytest
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from app.language import tr
from app.voice.comparison import ComparisonPage
from engine.api import Command, Compared, Comparing, ComparisonState, Translatable

DONE = Compared("espeak", "eSpeak NG", ComparisonState.DONE, "Alan", 12.6, 1, 0.014, 4.53, 2.5, 0.0)
ABSENT = Compared(
    "llmvox",
    "LLMVoX",
    ComparisonState.ABSENT,
    note=Translatable("There is no pack of {name} on this machine.", name="LLMVoX"),
)
# Tells its rows and its own words, then waits for its input to end, which it never does.
TELLING = """
import json, sys
for row in {rows}:
    print(json.dumps({{"row": row}}), file=sys.stderr, flush=True)
print("a warning", file=sys.stderr, flush=True)
print(json.dumps({{"rows": [], "words": sys.argv[1:], **{more}}}))
"""
MINUTES = "import time; time.sleep(600)"

Open = Callable[[str], ComparisonPage]


@pytest.fixture
def opened(qtbot: QtBot, posted: list[Command], rubato: Callable[[str], None]) -> Iterator[Open]:
    parent = QWidget()
    qtbot.addWidget(parent)
    pages: list[ComparisonPage] = []

    def open_page(script: str) -> ComparisonPage:
        rubato(script)
        pages.append(ComparisonPage(posted.append, parent))
        pages[-1].open_beside()
        return pages[-1]

    yield open_page
    for page in pages:
        page.close()


def telling(*rows: Compared, **more: object) -> str:
    documents = json.loads(json.dumps([row.document() for row in rows]))
    return TELLING.format(rows=documents, more=more)


def run(page: ComparisonPage, qtbot: QtBot) -> None:
    page.act.click()
    qtbot.waitUntil(lambda: page.act.text() == tr("&Speak"), timeout=20_000)


def test_what_is_told_is_shown_line_by_line(opened, qtbot, posted):
    page = opened(telling(ABSENT, DONE))
    run(page, qtbot)
    espeak, llmvox = page.table.lines["espeak"], page.table.lines["llmvox"]
    assert [label.text() for label in espeak.figures] == ["13 ms", "1", "1 %", "4.5"]
    assert espeak.title.text() == "eSpeak NG · Alan"
    assert espeak.figures[0].accessibleName() == "eSpeak NG, first sound: 13 ms"
    assert not espeak.note.isVisible()
    assert llmvox.note.text() == "There is no pack of LLMVoX on this machine."
    assert posted == [Comparing(True), Comparing(False)]


def test_the_command_gets_what_was_chosen(opened, qtbot, posted):
    page = opened(telling(DONE))
    found: list[object] = []
    page._job.ended.connect(found.append)
    page.text.setText("--aloud")
    page.aloud.setChecked(False)
    run(page, qtbot)
    (document,) = found
    assert isinstance(document, dict)
    expected = ["compare", "--json", "--", "--aloud"]
    assert document["words"] == expected
    assert Comparing(True) not in posted  # nothing is heard


def test_a_fault_is_said_and_so_is_a_process_that_breaks_off(opened, qtbot):
    for script, notice in (
        (telling(texts=["The loudspeaker is gone.", "Connect it."]), "is gone. Connect it."),
        ("raise SystemExit(3)", "ended too early"),
    ):
        page = opened(script)
        run(page, qtbot)
        assert notice in page.notice.text()


@pytest.mark.parametrize("by_closing", [True, False])
def test_it_is_stopped_by_its_button_and_by_closing(opened, posted, by_closing):
    page = opened(MINUTES)
    page.act.click()
    assert (page.act.text(), page.text.isEnabled()) == (tr("&Stop"), False)
    assert page._job._process.waitForStarted()
    (page.close if by_closing else page.act.click)()
    assert not page._job.is_under_way
    assert posted == [Comparing(True), Comparing(False)]
    assert page.text.isEnabled()
