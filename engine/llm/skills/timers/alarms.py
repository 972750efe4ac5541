"""Alarms: timers that are named after a time of day.

Invariant: an alarm's label ends in ALARM and names its time.
"""

import re
from dataclasses import replace

from engine.llm.base import StartTimer, Timer
from engine.llm.skills.clock.days import day_named
from engine.llm.skills.clock.hours import (
    clock_face,
    moment_after,
    moment_phrase,
    parse_moment,
    seconds_until,
)
from engine.llm.skills.matching.intent import Answer, SkillContext, Slots, last_answer
from engine.llm.skills.matching.quantities import duration, enumeration, parse_duration
from engine.llm.skills.timers.choosing import cancelled, newest_of, running
from engine.llm.skills.timers.setting import MAX_TIMER_S
from engine.messages.timers import CancelTimers, TimerKind

ALARM = "alarm"
DAY_S = 86_400
EARLIEST = 5  # o'clock, tomorrow: alarms are for getting up

# A day or a part of it, which leaves the hour open.
_DAY_ALONE = re.compile(
    r"^(?:(?:tomorrow|today|\w+day)(?: (?:morning|afternoon|evening|night))?|tonight"
    r"|(?:in the|this) (?:morning|afternoon|evening))$"
)
_PART_OF_DAY = re.compile(r"'s$| (?:morning|afternoon|evening|night)$")


def set_alarm(slots: Slots, context: SkillContext) -> Answer | None:
    moment = parse_moment(slots["moment"], context.now(), morning=EARLIEST)
    if moment is None:  # "in 20 minutes", "an alarm for an hour from now"
        said = re.sub(r"^(?:in|after) | from$| from now$", "", slots["moment"].strip())
        seconds = parse_duration(said)
        if seconds is not None and seconds <= MAX_TIMER_S:
            moment = moment_after(context.now(), seconds)
    if moment is None:
        known = _DAY_ALONE.match(slots["moment"].strip())
        return ask_alarm_time(slots, context) if known else None
    label = f"{clock_face(moment.hour, moment.minute)} {ALARM}"
    seconds = seconds_until(moment, context.now())
    return Answer(
        f"Alarm set for {moment_phrase(moment, context.now())}.",
        (StartTimer(seconds, label, "This is your alarm.", TimerKind.ALARM, by_clock=True),),
    )


def wake(slots: Slots, context: SkillContext) -> Answer | None:
    """Set an alarm. "wake me" means the morning, unless the sentence says otherwise."""
    moment = slots["moment"]
    said = (f"in the morning {moment}", f"{moment} in the morning", moment)
    answers = (set_alarm({"moment": each}, context) for each in said)
    return next(filter(None, answers), None)


def move_alarm(slots: Slots, context: SkillContext) -> Answer | None:
    """Set an alarm in the place of the newest; if the alarm to move is named, it must be the only
    one.
    """
    alarms, answer = running(context, TimerKind.ALARM), set_alarm(slots, context)
    if answer is not None and "after" not in slots and len(alarms) != 1:
        return None if alarms else Answer("There is no alarm set.")
    if answer is None or not alarms:
        return answer
    cancel = CancelTimers((newest_of(alarms).number,))
    return replace(answer, actions=(cancel, *answer.actions))


def put_alarm_off(slots: Slots, context: SkillContext) -> Answer | None:
    """Move the newest alarm of the next 24 hours to a later time."""
    alarms = running(context, TimerKind.ALARM)
    if not alarms:
        return Answer("There is no alarm set.")
    later_s = newest_of(alarms).remaining_s + duration(slots["duration"])
    moment = moment_after(context.now(), later_s)
    if later_s >= DAY_S:
        return None
    return move_alarm({"moment": clock_face(moment.hour, moment.minute).lower()}, context)


def another_moment(before: Slots, now: Slots, context: SkillContext) -> Slots | None:
    """Return another time of the same half of the day, or the missing part of the time: "in the
    evening", "half past".
    """
    said, answer = now["moment"], last_answer(context)
    half = [f"{said} {each.lower()}" for each in ("AM", "PM") if f" {each}" in answer]
    both = (f"{before['moment']} {said}", f"{said} {before['moment']}")
    readings = (*half, said, *both) if half else (*both, said)
    for reading in readings:
        if parse_moment(reading, context.now()) is not None:
            return {"moment": reading, "after": before["moment"]}
    return None


def ask_alarm_time(_slots: Slots, _context: SkillContext) -> Answer:
    return Answer("For when? Say, for example: seven in the morning.")


def cancel_alarms(slots: Slots, context: SkillContext) -> Answer | None:
    """Cancel the alarm at that time, or the only one; ask which if there are several."""
    alarms: tuple[Timer, ...] | None = running(context, TimerKind.ALARM)
    if "moment" in slots:
        alarms = alarms_at(slots["moment"], context)
    if alarms is None:
        return None
    if not alarms and "moment" in slots:
        return Answer("There is no such alarm.")
    if len(alarms) > 1 and "all" not in slots:
        known = enumeration([f"the {alarm.label}" for alarm in alarms], "or")
        return Answer(f"Which alarm: {known}?")
    return cancelled(alarms, TimerKind.ALARM)


def alarms_at(when: str, context: SkillContext) -> tuple[Timer, ...] | None:
    """Return the alarms at a time of day, or on a day; None when neither is named."""
    now, alarms = context.now(), running(context, TimerKind.ALARM)
    if moment := parse_moment(when, now):
        label = f"{clock_face(moment.hour, moment.minute)} {ALARM}"
        other = label.replace("AM", "PM") if "AM" in label else label.replace("PM", "AM")
        return tuple(alarm for alarm in alarms if alarm.label in (label, other))
    day = day_named(_PART_OF_DAY.sub("", when.strip()), now.date())
    if day is None or re.match(r"(?:the )?\d", when.strip()):  # "the 1st alarm" counts them
        return None
    return tuple(each for each in alarms if moment_after(now, each.remaining_s).date() == day)
