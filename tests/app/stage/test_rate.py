"""The rate slider, its readout and its trace."""

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.stage.panel import RatePanel
from engine.api import Phase, PhaseChanged, RateMeasured, SettingChanged, VoicesChanged


@pytest.fixture
def panel(qtbot, theme, posted) -> RatePanel:
    made = RatePanel(posted.append, theme, None)
    qtbot.addWidget(made)
    made.resize(320, 140)
    made.show()
    return made


def press(panel: RatePanel, *keys: Qt.Key) -> None:
    for key in keys:
        QTest.keyClick(panel.slider, key)
        QApplication.processEvents()


def rates(posted) -> list[float | None]:
    assert all(command.key == "speech.rate" for command in posted)
    return [command.value for command in posted]


@pytest.mark.parametrize(
    ("start", "keys", "expected"),
    [
        (4.0, "Right Up Left Down", [4.1, 4.2, 4.1, 4.0]),
        (4.0, "PageUp PageDown PageDown", [5.0, 4.0, 3.0]),
        (4.0, "Home End", [None, 7.0]),
        (1.0, "Left PageDown", []),  # the slowest does not step into own pace
    ],
)
def test_keys_change_the_rate_and_post_it(panel, posted, start, keys, expected):
    panel.slider.show_rate(start)
    press(panel, *(getattr(Qt.Key, f"Key_{each}") for each in keys.split()))
    assert rates(posted) == expected
    assert panel.slider.rate == (expected or [start])[-1]


def test_fast_speech_opens_the_slider_and_closing_it_shows_the_highest_rate(panel, posted):
    panel.on_event(SettingChanged("speech.fast", True))
    press(panel, Qt.Key.Key_End)
    assert panel.slider.rate == 13.0
    assert panel.unit.text() == "syllables per second · about 540 words a minute"
    panel.grab()
    panel.on_event(SettingChanged("speech.fast", False))
    assert panel.slider.rate == 7.0
    assert rates(posted) == [13.0]


def test_from_own_pace_a_step_starts_at_the_rate_last_measured(panel, posted):
    panel.on_event(RateMeasured(1, None, 4.6))
    press(panel, Qt.Key.Key_Right)
    assert rates(posted) == [4.7]


def test_the_wheel_changes_the_rate_and_small_angles_add_up(panel, posted):
    panel.slider.show_rate(4.0)
    for angle in (120, 60, 60, -120):
        event = QWheelEvent(
            QPointF(50, 20),
            panel.slider.mapToGlobal(QPointF(50, 20)),
            QPoint(),
            QPoint(0, angle),
            Qt.MouseButton.NoButton,
            Qt.KeyboardModifier.NoModifier,
            Qt.ScrollPhase.NoScrollPhase,
            False,
        )
        QApplication.sendEvent(panel.slider, event)
        QApplication.processEvents()
    assert rates(posted) == [4.1, 4.2, 4.1]


def test_a_click_goes_where_it_was_made(panel, posted):
    slider = panel.slider
    for x in (slider.width() - 18, 62, 20):  # 7.0, 1.0, own pace: see rate_slider
        QTest.mouseClick(slider, Qt.MouseButton.LeftButton, pos=QPoint(x, 20))
        QApplication.processEvents()
    assert rates(posted) == [7.0, 1.0, None]


def test_a_value_from_the_engine_is_shown_but_undoes_no_move_that_is_still_to_be_told(
    panel, posted
):
    panel.slider.show_rate(4.0)
    panel.slider.step(2)
    panel.on_event(SettingChanged("speech.rate", 4.1))
    assert panel.slider.rate == 4.2
    QApplication.processEvents()
    assert rates(posted) == [4.2]
    for rate in (3.0, None):
        panel.on_event(SettingChanged("speech.rate", rate))  # at once, and be it while it is held
        assert panel.slider.rate == rate
        QApplication.processEvents()
    assert rates(posted) == [4.2]  # it is not posted back


def test_the_readout_says_target_and_measured_until_the_next_turn(panel):
    panel.slider.show_rate(4.0)
    panel.on_event(RateMeasured(1, 4.0, 3.94))
    assert panel.readout.text() == "target 4.0 · measured 3.9"
    panel.slider.show_rate(None)
    assert panel.readout.text() == "own pace · measured 3.9"
    panel.slider.show_rate(4.0)
    panel.on_event(PhaseChanged(2, Phase.THINKING))
    assert panel.readout.text() == "target 4.0"


def test_behind_a_move_no_rate_is_shown_until_there_is_speech_to_tell_it(panel):
    panel.slider.show_rate(4.0)
    panel.on_event(RateMeasured(1, 4.0, 3.94))
    panel.on_event(RateMeasured(1, 4.0, None))
    assert panel.readout.text() == "target 4.0"
    assert len(panel.trace.samples) == 1


def test_a_reply_that_is_over_leaves_its_mean(panel):
    panel.slider.show_rate(4.0)
    panel.on_event(RateMeasured(1, 4.0, 3.94))
    panel.on_event(RateMeasured(1, 4.0, 5.2, over=True))
    assert panel.readout.text() == "target 4.0 · measured 5.2"
    assert len(panel.trace.samples) == 1


def test_a_voice_without_a_rate_says_so_and_gives_the_slider_back_to_one_with(panel, posted):
    panel.slider.show_rate(4.0)
    panel.on_event(VoicesChanged(("Ada",), "Ada", has_rate=False))
    press(panel, Qt.Key.Key_Right)
    assert not panel.slider.isEnabled()
    assert "no rate" in panel.readout.text()
    assert posted == []
    panel.on_event(VoicesChanged(("Ada",), "Ada"))
    press(panel, Qt.Key.Key_Right)
    assert rates(posted) == [4.1]
