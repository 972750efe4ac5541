"""Where things are to be still, nothing on any page moves by itself; else something does."""

import pytest
from PySide6.QtCore import QAbstractAnimation, QTimer
from PySide6.QtWidgets import QProgressBar, QWidget

from engine.api import Activity, Loading, ModelProgress, Part, Phase, PhaseChanged, SettingChanged
from tests.app.everyone.pages import PAGES, seen, told

SECOND_MS = 1000  # what changes that seldom is a clock, no animation
BUSY = (
    Loading(Part.RECOGNISER, "Loading whisper", None),
    ModelProgress("whisper-turbo", Activity.VERIFYING, 0, 0),
    ModelProgress("qwen3-1-7b", Activity.FETCHING, 0, 0),
)


def moving(root: QWidget) -> list[str]:
    """What would change the picture again and again without anything having happened."""
    window = root if root.parent() is None else root.parent().window()
    timers = [each for each in window.findChildren(QTimer) if each.isActive()]
    fast = [each for each in timers if not each.isSingleShot() and each.interval() < SECOND_MS]
    running = QAbstractAnimation.State.Running
    animations = [e for e in window.findChildren(QAbstractAnimation) if e.state() == running]
    to_and_fro = [e for e in seen(root) if isinstance(e, QProgressBar) and e.maximum() == 0]
    return [repr(each.parent()) for each in (*fast, *animations)] + list(map(repr, to_and_fro))


@pytest.mark.parametrize("name", PAGES)
def test_nothing_moves_on_any_page(window, name):
    root = PAGES[name](window)
    told(window, SettingChanged("window.motion", "reduced"), *BUSY)
    for phase in Phase:
        told(window, PhaseChanged(5, phase))
        assert moving(root) == []


@pytest.mark.parametrize("name", ["talk", "models"])
def test_what_moves_would_be_noticed(window, name):
    root = PAGES[name](window)
    told(window, *BUSY, PhaseChanged(5, Phase.SPEAKING))
    assert moving(root)


def test_the_system_can_ask_for_it_too_and_whoever_asks_gets_it(window):
    told(window, PhaseChanged(1, Phase.SPEAKING))
    for of_system, setting, is_still in (
        (False, "system", False),
        (True, "system", True),
        (False, "system", False),
        (False, "reduced", True),
        (True, "reduced", True),
    ):
        window.motion.follow_system(of_system)
        told(window, SettingChanged("window.motion", setting))
        assert (window.motion.is_still, window.stage.orb.is_animating) == (is_still, not is_still)
