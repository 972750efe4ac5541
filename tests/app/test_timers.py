"""Cards that count down, and what their buttons ask for."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
from PySide6.QtWidgets import QWidget

from app.look.theme import Theme
from app.timers import TimersPanel, time_left, when
from engine import api
from tests.help.fakes.stepped_clock import SteppedClock

NOON = 0.0  # where the clock begins
TEA = api.TimerSet(NOON + 250.0, "tea", "Tea.", 1, seconds=300)
EGGS = api.TimerSet(NOON + 10.0, "", "Eggs.", 2, seconds=60)
ALARM = api.TimerSet(NOON + 30_000.0, "8:20 PM alarm", "Up.", 3, api.TimerKind.ALARM, 30_000)


@pytest.fixture
def clock() -> SteppedClock:
    return SteppedClock()


@pytest.fixture
def panel(
    qtbot, theme: Theme, posted: list[api.Command], clock: SteppedClock
) -> Iterator[TimersPanel]:
    above = QWidget()
    qtbot.addWidget(above)
    above.show()
    yield TimersPanel(posted.append, theme, above, clock=clock)
    above.close()


def test_the_card_that_rings_next_is_on_top_and_all_count_down(qtbot, panel, clock):
    assert panel.isHidden()
    panel.on_event(api.TimersChanged((TEA, EGGS)))
    assert not panel.isHidden()
    assert [card.title.text() for card in panel.cards] == ["Timer", "Tea"]
    assert [card.left.text() for card in panel.cards] == ["0:10", "4:10"]
    clock.advance(1.0)
    qtbot.waitUntil(lambda: [card.left.text() for card in panel.cards] == ["0:09", "4:09"])
    panel.on_event(api.TimersChanged(()))
    assert panel.isHidden()
    assert panel.cards == ()


def test_a_paused_timer_says_so_stands_still_and_can_go_on(panel, clock, posted):
    paused = api.TimerSet(TEA.due, "tea", "Tea.", 1, seconds=300, paused_s=200.0)
    panel.on_event(api.TimersChanged((paused,)))
    clock.advance(100.0)
    (card,) = panel.cards
    card.show_left(clock())
    assert (card.left.text(), card.detail.text()) == ("3:20", "paused")
    card.pause.click()
    assert posted == [api.PauseTimers((1,), on=False)]


@pytest.mark.parametrize(
    ("press", "command"),
    [
        (lambda card: card.more.click(), api.ExtendTimers((1,), 60.0)),
        (lambda card: card.pause.click(), api.PauseTimers((1,), on=True)),
        (lambda card: card.cancel.click(), api.CancelTimers((1,))),
    ],
)
def test_a_button_asks_the_engine_and_changes_nothing_itself(panel, posted, press, command):
    panel.on_event(api.TimersChanged((TEA,)))
    press(panel.cards[0])
    assert posted == [command]
    assert panel.cards[0].left.text() == "4:10"


def test_an_alarm_tells_its_time_and_can_only_be_cancelled(panel):
    panel.on_event(api.TimersChanged((ALARM,)))
    (card,) = panel.cards
    assert (card.title.text(), card.detail.text()) == ("Alarm", when(ALARM.due))
    hidden = [each.isHidden() for each in (card.more, card.pause, card.cancel)]
    assert hidden == [True, True, False]


def test_one_that_rang_stays_on_top_until_it_is_dismissed_or_snoozed(panel, posted):
    rang = replace(ALARM, due=NOON - 5.0, rang_at=NOON)
    panel.snooze()
    assert posted == []
    panel.on_event(api.TimersChanged((EGGS, rang)))
    card = panel.cards[0]
    assert (card.title.text(), card.detail.text()) == ("Alarm", f"since {when(rang.due)}")
    shown = [card.dismiss, card.snooze, card.cancel, card.more, card.pause, card.left]
    assert [each.isHidden() for each in shown] == [False, False, True, True, True, True]
    card.dismiss.click()
    card.snooze.click()
    panel.snooze()
    snooze = api.ExtendTimers((3,), api.SNOOZE_S)
    assert posted == [api.CancelTimers((3,)), snooze, snooze]
    panel.on_event(api.TimersChanged((EGGS, ALARM)))  # snoozed
    assert panel.cards[1].dismiss.isHidden()


@pytest.mark.parametrize(
    ("seconds", "face"),
    [(0.0, "0:00"), (0.2, "0:01"), (59.9, "1:00"), (3725.0, "1:02:05"), (183600, "2 days 3:00:00")],
)
def test_what_is_left_is_rounded_up_so_that_nought_is_the_end(seconds, face):
    assert time_left(seconds) == face
