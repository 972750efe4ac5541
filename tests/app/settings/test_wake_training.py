"""Teaching the wake phrase from the settings: a process of its own, and what its end changes."""

import sys
from collections.abc import Callable, Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit

from app.settings.dialog import SettingsDialog
from app.settings.wake_training import WakeTrainingRow
from engine.api import ChangeSetting, Event, Failed, Notice, SettingChanged
from engine.asr.wake.spotter import head_file
from tests.help.machine.own_data import own_data as own_data

PHRASE = "hey rubato"
OTHER = "good evening zaphod"
# A `rubato wake --json -- PHRASE` that learns at once, is refused, is killed, or learns for ever.
LEARNS = """
import json, os, pathlib, sys
assert sys.argv[1:4] == ["wake", "--json", "--"]
file = pathlib.Path(os.environ["RUBATO_DATA"], "wake", sys.argv[4] + ".safetensors")
file.parent.mkdir(exist_ok=True)
file.touch()
print(json.dumps({"phrase": sys.argv[4], "file": str(file)}))
"""
REFUSED = """
print('{"phrase": "", "texts": ["It cannot be fetched.", "Look at the network."]}')
raise SystemExit(1)
"""
KILLED = "import os; os.abort()"
ENDLESS = """
import sys, time
print('{"part": 0.25}', file=sys.stderr, flush=True)
time.sleep(600)
"""
Make = Callable[[str], WakeTrainingRow]


@pytest.fixture
def make(window, theme, rubato) -> Iterator[Make]:
    made: list[WakeTrainingRow] = []

    def make(script: str) -> WakeTrainingRow:
        rubato(script)
        made.append(WakeTrainingRow(PHRASE, theme, window))
        made[-1].show()
        return made[-1]

    yield make
    for each in made:
        each.end()


def teach(qtbot, lesson: WakeTrainingRow) -> None:
    with qtbot.waitSignal(lesson._job.ended, timeout=20_000):
        lesson.act.click()


def test_whether_a_phrase_is_taught_is_said(make):
    lesson = make(LEARNS)
    assert lesson.act.text() == "&Teach this computer"
    assert "not taught yet: it is found less often" in lesson.words.text()
    head_file(PHRASE).parent.mkdir()
    head_file(PHRASE).touch()  # as in a terminal
    lesson.hide()
    lesson.show()
    assert lesson.act.text() == "&Teach again"
    assert lesson.words.text() == f"“{PHRASE}” was taught to this computer."
    lesson.show_phrase(OTHER)
    assert f"“{OTHER}” is not taught yet" in lesson.words.text()


UNAVAILABLE = ("It cannot be fetched.", "Look at the network.")
TOO_EARLY = (f"Teaching “{PHRASE}” ended too early.", "Nothing was changed; try again.")


@pytest.mark.parametrize(
    ("script", "event"),
    [
        (LEARNS, Notice(f"“{PHRASE}” was taught to this computer.")),
        (REFUSED, Failed("model", *UNAVAILABLE)),
        (KILLED, Failed("model", *TOO_EARLY)),
    ],
)
def test_how_a_lesson_ends_is_said_and_told_to_who_looks_elsewhere(qtbot, make, script, event):
    lesson = make(script)
    noted: list[Event] = []
    taught: list[str] = []
    lesson.noted.connect(noted.append)
    lesson.taught.connect(taught.append)
    teach(qtbot, lesson)
    assert (noted, lesson.bar.isHidden()) == ([], True)
    assert taught == ([PHRASE] if script is LEARNS else [])
    assert lesson.act.text() == ("&Teach again" if taught else "&Teach this computer")
    if isinstance(event, Failed):
        assert lesson.words.text() == f"{event.message}\n{event.hint}"
        assert lesson.words.property("kind") == "danger"
    lesson.hide()
    lesson.act.click()
    assert lesson.words.property("kind") == "muted"
    qtbot.waitUntil(lambda: noted == [event], timeout=20_000)


def test_how_far_it_is_is_shown_and_it_can_be_cancelled(qtbot, make):
    lesson = make(ENDLESS)
    taught: list[str] = []
    lesson.taught.connect(taught.append)
    lesson.act.click()
    assert not lesson.bar.isHidden()
    assert lesson.words.text() == f"Teaching “{PHRASE}”; you can go on talking."
    qtbot.waitUntil(lambda: lesson.bar.value() == 250, timeout=20_000)
    assert lesson.act.text() == "&Cancel"
    lesson.act.click()
    assert not lesson._job.is_under_way
    assert lesson.bar.isHidden()
    assert lesson.act.text() == "&Teach this computer"
    assert "not taught yet" in lesson.words.text()
    assert taught == []


@pytest.fixture
def dialog(window) -> SettingsDialog:
    made = window.open_settings(None)
    QApplication.processEvents()
    return made


def begin(dialog: SettingsDialog, script: str) -> None:
    dialog.wake_training._job._command = [sys.executable, "-c", script]
    dialog.wake_training.act.click()


@pytest.mark.parametrize("changed", [False, True])
def test_what_was_taught_is_listened_for_at_once_unless_it_was_changed_meanwhile(
    qtbot, dialog, posted, window, *, changed
):
    with qtbot.waitSignal(dialog.wake_training.taught, timeout=20_000):
        begin(dialog, LEARNS)
        if changed:
            dialog.on_event(SettingChanged("wake.phrase", OTHER))
    assert posted == ([] if changed else [ChangeSetting("wake.phrase", PHRASE)])
    assert window.notice.text() == f"“{PHRASE}” was taught to this computer."
    assert (f"“{OTHER}” is not taught yet" in dialog.wake_training.words.text()) is changed


def test_it_is_about_the_phrase_in_force_not_the_one_being_typed(dialog, posted):
    pages = [dialog.tabs.widget(index) for index in range(dialog.tabs.count())]
    dialog.tabs.setCurrentIndex(
        [page.isAncestorOf(dialog.wake_training) for page in pages].index(True)
    )
    line = dialog.editors("wake.phrase")[0].control
    assert isinstance(line, QLineEdit)
    line.setFocus()
    line.selectAll()
    QTest.keyClicks(line, OTHER)
    QTest.keyClick(line, Qt.Key.Key_Return)
    assert posted == [ChangeSetting("wake.phrase", OTHER)]
    assert not dialog.wake_training._job.is_under_way
    assert f"“{PHRASE}” is not taught yet" in dialog.wake_training.words.text()
    dialog.on_event(SettingChanged("wake.phrase", OTHER))
    assert f"“{OTHER}” is not taught yet" in dialog.wake_training.words.text()


def test_it_goes_on_without_the_page_and_ends_with_the_window(qtbot, dialog, window):
    begin(dialog, ENDLESS)
    qtbot.waitUntil(lambda: dialog.wake_training.bar.value() == 250, timeout=20_000)
    dialog.close()
    assert dialog.wake_training._job.is_under_way
    window.quit()
    assert not dialog.wake_training._job.is_under_way
