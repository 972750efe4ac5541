"""Updates in the window: looked for when asked or allowed, taken between replies."""

import sys
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest

from app.about.update_card import UpdateCard
from app.about.updates import Stage, Updates
from engine.api import Part, Phase, PhaseChanged, Ready, Settings
from engine.settings import UpdateSettings

OFFERED = {"state": "offered", "version": "0.2.0", "changes": "- Better.", "can_install": True}
INSTALLED = {**OFFERED, "state": "installed"}
FAILED = {"state": "failed", "message": "It is forged.", "hint": "Nothing was changed."}
VOICE_READY = Ready(Part.SYNTHESISER, "a voice")
Make = Callable[..., Updates]


def answering(checked: dict, taken: dict) -> list[str]:
    """A program that answers to `update --check` and to `update`."""
    answer = f"{checked!r} if '--check' in sys.argv else {taken!r}"
    return [sys.executable, "-c", f"import sys, json; print(json.dumps({answer}))"]


@pytest.fixture
def shown() -> list[str]:
    """Lines told about what a weekly look found."""
    return []


@pytest.fixture
def make(qtbot, qapp, shown: list[str]) -> Iterator[Make]:
    made: list[Updates] = []

    def make(checked: dict, taken: dict = INSTALLED, *, look: str = "when asked") -> Updates:
        settings = replace(Settings(), updates=UpdateSettings(look))
        made.append(Updates(settings, shown.append, qapp, answering(checked, taken)))
        return made[-1]

    yield make
    for each in made:
        each.end()


def reach(qtbot, updates: Updates, stage: Stage) -> None:
    qtbot.waitUntil(lambda: updates.stage is stage, timeout=20_000)


@pytest.mark.parametrize(
    ("answer", "stage", "words"),
    [
        (OFFERED, Stage.OFFERED, "0.2.0 is available."),
        ({**OFFERED, "can_install": False}, Stage.SETTLED, "the way you installed it"),
        ({"state": "current"}, Stage.SETTLED, "newest version"),
        ({"state": "off"}, Stage.SETTLED, "nothing was checked"),
        (FAILED, Stage.FAILED, "It is forged. Nothing was changed."),
        ({}, Stage.FAILED, "rubato update --check"),
    ],
)
def test_a_look_says_what_it_found(qtbot, make: Make, answer: dict, stage: Stage, words: str):
    updates = make(answer)
    updates.look()
    assert updates.stage is Stage.LOOKING
    reach(qtbot, updates, stage)
    assert words in updates.words


def test_an_update_is_taken_between_replies(qtbot, make: Make):
    updates = make(OFFERED)
    updates.look()
    reach(qtbot, updates, Stage.OFFERED)
    updates.on_event(PhaseChanged(1, Phase.SPEAKING))
    updates.take()
    assert updates.stage is Stage.WAITING
    updates.on_event(PhaseChanged(1, Phase.THINKING))
    assert updates.stage is Stage.WAITING
    updates.on_event(PhaseChanged(1, Phase.IDLE))
    assert updates.stage is Stage.INSTALLING
    reach(qtbot, updates, Stage.INSTALLED)
    assert "from the next start" in updates.words


# Installs until it is ended: tells a share, and notes its end in the file named by $GONE.
ENDLESS = """
import os, signal, sys, time
if "--check" in sys.argv:
    print('{"state": "offered", "version": "0.2.0", "can_install": true}')
    sys.exit()
signal.signal(signal.SIGTERM, lambda *_: (open(os.environ["GONE"], "w").close(), sys.exit()))
print('no JSON', file=sys.stderr)
print('{"part": 0.25}', file=sys.stderr, flush=True)
time.sleep(600)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGTERM to note there")
def test_progress_is_shown_and_cancel_ends_it(
    qtbot, qapp, window, theme, tmp_path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("GONE", str(tmp_path / "gone"))
    updates = Updates(Settings(), print, qapp, [sys.executable, "-c", ENDLESS])
    card = UpdateCard(updates, lambda *_: None, theme, window, is_weekly=False)
    assert card.cancel.isHidden()
    assert card.bar.isHidden()
    updates.look()
    reach(qtbot, updates, Stage.OFFERED)
    card.act.click()
    qtbot.waitUntil(lambda: updates.share == 0.25, timeout=20_000)
    assert not card.cancel.isHidden()
    assert card.bar.value() == 250
    card.cancel.click()
    assert (tmp_path / "gone").exists()
    assert (updates.stage, updates.share) == (Stage.OFFERED, 0.0)
    assert card.act.isEnabled()
    assert card.cancel.isHidden()


def test_who_cancels_while_it_waits_for_a_reply_is_not_updated(qtbot, make: Make):
    updates = make(OFFERED)
    updates.look()
    reach(qtbot, updates, Stage.OFFERED)
    updates.on_event(PhaseChanged(1, Phase.SPEAKING))
    updates.take()
    updates.cancel()
    updates.on_event(PhaseChanged(1, Phase.IDLE))
    assert updates.stage is Stage.OFFERED


def test_what_failed_can_be_tried_again(qtbot, make: Make):
    updates = make(OFFERED, FAILED)
    updates.look()
    reach(qtbot, updates, Stage.OFFERED)
    updates.take()
    reach(qtbot, updates, Stage.FAILED)
    updates.look()
    reach(qtbot, updates, Stage.OFFERED)


def test_nobody_is_asked_by_itself_unless_it_was_allowed(make: Make):
    updates = make(OFFERED)
    updates.on_event(VOICE_READY)
    assert updates.stage is Stage.UNKNOWN


def test_a_weekly_look_tells_news_in_a_line_and_once_a_start(qtbot, make: Make, shown: list[str]):
    updates = make(OFFERED, look="weekly")
    updates.on_event(VOICE_READY)
    reach(qtbot, updates, Stage.OFFERED)
    assert shown == ["Rubato 0.2.0 is available: More ▸ About Rubato."]
    updates.on_event(VOICE_READY)
    assert updates.stage is Stage.OFFERED


@pytest.mark.parametrize("answer", [{"state": "not due"}, {"state": "off"}, FAILED, {}])
def test_a_weekly_look_without_news_says_nothing(qtbot, make: Make, shown: list[str], answer: dict):
    updates = make(answer, look="weekly")
    before = updates.words
    updates.on_event(VOICE_READY)
    reach(qtbot, updates, Stage.UNKNOWN)
    assert (updates.words, shown) == (before, [])


@pytest.fixture
def changed() -> list[tuple[str, str]]:
    """Settings that were changed."""
    return []


def test_the_card_looks_shows_what_changes_and_installs(qtbot, window, theme, make: Make, changed):
    updates = make(OFFERED)
    card = UpdateCard(updates, lambda *each: changed.append(each), theme, window, is_weekly=False)
    assert card.act.text() == "Look for &updates"
    card.act.click()
    assert not card.act.isEnabled()
    reach(qtbot, updates, Stage.OFFERED)
    assert (card.act.text(), card.changes.text()) == ("&Install", "- Better.")
    card.act.click()
    reach(qtbot, updates, Stage.INSTALLED)
    assert not card.act.isEnabled()


def test_once_a_week_is_a_setting(window, theme, make: Make, changed):
    card = UpdateCard(make({}), lambda *each: changed.append(each), theme, window, is_weekly=False)
    card.weekly.click()
    card.weekly.click()
    assert changed == [("updates.look", "weekly"), ("updates.look", "when asked")]
