from engine.llm.base import StartTimer, Timer
from engine.runtime.alarm import Alarm


def alarm_with(*timers: tuple[float, str]) -> Alarm:
    alarm = Alarm()
    for seconds, label in timers:
        alarm.start(StartTimer(seconds, label, f"{label} is over"), now=100.0)
    return alarm


def test_a_timer_rings_once_when_its_time_has_come() -> None:
    alarm = alarm_with((10, "tea"))
    assert alarm.due(109.9) == ()
    assert alarm.due(110.0) == ("tea is over",)
    assert alarm.due(111.0) == ()


def test_timers_that_are_due_together_ring_in_the_order_of_their_time() -> None:
    assert alarm_with((9, "late"), (3, "early")).due(200.0) == ("early is over", "late is over")


def test_the_wait_is_for_the_next_timer_only() -> None:
    assert alarm_with((9, "a"), (3, "b")).wait_s(101.0) == 2.0
    assert Alarm().wait_s(0.0) is None


def test_timers_come_back_but_for_those_whose_time_has_come() -> None:
    alarm = alarm_with((9, "tea"), (3, "eggs"))
    timers = alarm.timers
    alarm.cancel("")
    alarm.restore(timers, now=104.0)
    assert [timer.label for timer in alarm.running(104.0)] == ["tea"]


def test_a_label_cancels_its_timers_and_the_empty_label_all() -> None:
    alarm = alarm_with((9, "tea"), (3, "eggs"))
    alarm.cancel("tea")
    assert alarm.running(101.0) == (Timer("eggs", 2.0),)
    alarm.cancel("")
    assert alarm.running(101.0) == ()
