"""Alarms, which are timers named after a time of day, and reminders, which are timers with a task.

Invariant: an alarm's label ends in ALARM and names its time. A reminder's task is repeated in the
second person ("call your mother").
"""

import re
from dataclasses import replace
from datetime import datetime, time

from engine.llm.base import StartTimer
from engine.llm.skills.clock.days import day_named
from engine.llm.skills.clock.hours import (
    clock_face,
    moment_after,
    moment_phrase,
    next_showing,
    parse_moment,
    seconds_until,
)
from engine.llm.skills.matching.fillings import alternatives, is_clause, is_name, is_task
from engine.llm.skills.matching.intent import Answer, SkillContext, Slots, last_answer
from engine.llm.skills.matching.quantities import (
    duration,
    duration_phrase,
    parse_duration,
)
from engine.llm.skills.timers.changing import MAX_TIMER_S
from engine.llm.skills.timers.choosing import ALARM, alarms_at, cancelled, newest_of, running
from engine.messages.timers import CancelTimers, ExtendTimers, TimerKind

DAY_S = 86_400
EARLIEST = 5  # o'clock, tomorrow: alarms are for getting up

# A day or a part of it, which leaves the hour open.
_DAY_ALONE = re.compile(
    r"^(?:(?:tomorrow|today|\w+day)(?: (?:morning|afternoon|evening|night))?|tonight"
    r"|(?:in the|this) (?:morning|afternoon|evening))$"
)


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
    label = f"{clock_face(moment)} {ALARM}"
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
    """Set an alarm in the place of the newest; a named alarm must be the only one."""
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
    return move_alarm({"moment": clock_face(moment).lower()}, context)


def another_moment(before: Slots, now: Slots, context: SkillContext) -> Slots | None:
    """Return another time of the same half of the day, or the missing part: "half past"."""
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
    if "moment" not in slots:
        return cancelled(running(context, TimerKind.ALARM), TimerKind.ALARM, slots)
    alarms = alarms_at(slots["moment"], context)
    if not alarms:
        return None if alarms is None else Answer("There is no such alarm.")
    return cancelled(alarms, TimerKind.ALARM, slots)


# The hour when only a part of the day was named.
_HOURS = {"morning": 9, "afternoon": 15, "evening": 19, "night": 21, "tonight": 20}

_SECOND_PERSON = {"my": "your", "me": "you", "i": "you", "myself": "yourself", "am": "are"}
_FIRST_PERSON = re.compile(rf"\b(?:{'|'.join(_SECOND_PERSON)})\b")
# Entries of a person's own calendar; anything else may be a subject of information.
_MINE = re.compile(
    r"^my |\b(?:meeting|appointment|call|interview|party|birthday|deadline|game|laundry|bill|rent)$"
)
_NO_TASK = re.compile(r"^(?:never ?mind|cancel|stop|forget it|tell me|set|remind|play)\b")
_WHEN = re.compile(alternatives("beginnings_of_times"))
# An event without a known time, or a time that was not understood: "when?" answers neither.
_HAS_TIME = re.compile(rf"\b(?:{alternatives('parts_of_times')})\b")
_DAY_AT_END = re.compile(r" (?:today|tonight|tomorrow)$")  # it belongs to the time
_ON_A_LIST = re.compile(r" (?:on|to) (?:my|the) (?:[\w-]+ ){0,2}list$")
# A time that leaves "when?" open.
_SOON = re.compile(r" (?:in a ?(?:bit|while|moment)|later(?: on)?|soon|some ?time)$")


def remind_in(slots: Slots, _context: SkillContext) -> Answer | None:
    seconds = parse_duration(slots["duration"])
    if seconds is None:
        return None
    if seconds > MAX_TIMER_S:
        return Answer("That is too long for me. I can remind you within a week.")
    return _remind(f"in {duration_phrase(seconds)}", seconds, slots["task"])


def remind_at(slots: Slots, context: SkillContext) -> Answer | None:
    now = context.now()
    moment = parse_moment(slots["moment"], now) or _that_day(slots["moment"], now)
    if moment is None:
        return None
    when = f"at {moment_phrase(moment, now)}"
    return _remind(when, seconds_until(moment, now), slots["task"], by_clock=True)


def _remind(when: str, seconds: float, task: str, *, by_clock: bool = False) -> Answer:
    task = _in_second_person(task.strip())
    said = f"Remember to {task}."
    reminder = StartTimer(seconds, task, said, TimerKind.REMINDER, by_clock)
    return Answer(f"I'll remind you {when} to {task}.", (reminder,))


def remind_of_errand(slots: Slots, context: SkillContext) -> Answer | None:
    """Set a reminder for a task followed by a time: "buy milk tomorrow at 8"."""
    words = slots["errand"].split()
    for at in range(1, len(words)):
        errand = {"task": " ".join(words[:at]), "when": " ".join(words[at:])}
        is_whole = is_task(errand["task"]) and not _DAY_AT_END.search(errand["task"])
        is_errand = is_whole and _WHEN.match(errand["when"])
        if answer := remind_at_or_in(errand, context) if is_errand else None:
            return answer
    return None


def ask_when(slots: Slots, _context: SkillContext) -> Answer | None:
    if _HAS_TIME.search(slots["task"]) or _ON_A_LIST.search(slots["task"]):
        return None
    task = _in_second_person(_SOON.sub("", slots["task"].strip()))
    return Answer(f"When shall I remind you to {task}? Say, for example: in ten minutes.")


def ask_when_about(slots: Slots, context: SkillContext) -> Answer | None:
    """Ask for the time of "remind me about the meeting", but not of "about that"."""
    if answer := remind_of_errand({"errand": _about(slots["matter"])}, context):
        return answer
    mine = _MINE.search(slots["matter"]) and is_name(slots["matter"])
    return ask_when({"task": _about(slots["matter"])}, context) if mine else None


def ask_what(slots: Slots, context: SkillContext) -> Answer | None:
    now, said = context.now(), slots.get("moment", "")
    if said and not (parse_moment(said, now) or _that_day(said, now)):
        return None
    return Answer("What shall I remind you to do?")


def remind_at_or_in(slots: Slots, context: SkillContext) -> Answer | None:
    """Set a reminder for a time of day, or after a duration."""
    when = re.sub(r"^(?:in|at|on) ", "", slots["when"])
    task = slots.get("task") or _about(slots["matter"])
    return remind_in({"duration": when, "task": task}, context) or remind_at(
        {"moment": when, "task": task}, context
    )


def move_reminder(slots: Slots, context: SkillContext) -> Answer | None:
    """Move the newest reminder to another time."""
    reminders = running(context, TimerKind.REMINDER)
    if not reminders:
        return None
    newest = newest_of(reminders)
    answer = remind_at_or_in({"when": slots["when"], "task": newest.label}, context)
    cancel = CancelTimers((newest.number,))
    return answer and replace(answer, actions=(cancel, *answer.actions))


def put_reminder_off(slots: Slots, context: SkillContext) -> Answer:
    """Let the newest reminder come later."""
    reminders = running(context, TimerKind.REMINDER)
    if not reminders:
        return Answer("There is no reminder set.")
    newest, seconds = newest_of(reminders), duration(slots["duration"])
    moment = moment_after(context.now(), newest.remaining_s + seconds)
    said = f"I'll remind you at {moment_phrase(moment, context.now())} to {newest.label}."
    return Answer(said, (ExtendTimers((newest.number,), seconds),))


def cancel_reminder(slots: Slots, context: SkillContext) -> Answer:
    """Cancel the named reminder, or the only one; ask which if there are several."""
    reminders = running(context, TimerKind.REMINDER)
    if "task" in slots:
        wanted = _in_second_person(slots["task"].strip())
        reminders = tuple(each for each in reminders if wanted in each.label)
        if not reminders:
            return Answer("There is no such reminder.")
    return cancelled(reminders, TimerKind.REMINDER, slots)


def with_time(before: Slots, now: Slots, _context: SkillContext) -> Slots | None:
    task = before.get("task") or _about(before["matter"])
    return {"task": task, "when": now["when"]}


def with_task(before: Slots, now: Slots, _context: SkillContext) -> Slots | None:
    if _NO_TASK.match(now["task"].strip()) or "moment" not in before:
        return None
    return {"task": now["task"], "when": before["moment"]}


def which_reminder(_before: Slots, now: Slots, context: SkillContext) -> Slots | None:
    wanted = _in_second_person(now["task"].strip())
    known = running(context, TimerKind.REMINDER)
    return now if any(wanted in each.label for each in known) else None


def is_matter(said: str) -> bool:
    """Return whether this is the subject of a reminder, and not a clause."""
    return not is_clause(said)


def _about(thing: str) -> str:
    return f"think of {thing.strip()}"


def _that_day(name: str, now: datetime) -> datetime | None:
    """Return a day, or a part of one, without an hour: "tomorrow", "friday evening", "tonight"."""
    day, _, part = name.strip().rpartition(" ")
    day, hour = (day or "today", _HOURS[part]) if part in _HOURS else (name, _HOURS["morning"])
    named = day_named("today" if day == "this" else day, now.date())
    return next_showing(datetime.combine(named, time(hour)), now) if named else None


def _in_second_person(task: str) -> str:
    """Return "call my mother" in the assistant's words: "call your mother"."""
    return _FIRST_PERSON.sub(lambda match: _SECOND_PERSON[match[0]], task)
