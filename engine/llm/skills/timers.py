"""Timers and reminders: asked for here, counted by the runtime.

Invariant: a skill starts or cancels by an action and reads only Situation.timers; it never waits.
"""

import re
from datetime import datetime

from engine.llm.base import CancelTimers, StartTimer, Timer
from engine.llm.skills.matching.intent import Answer, Family, Intent, Occasion, Slots, Tool
from engine.llm.skills.matching.moments import clock_face, parse_moment
from engine.llm.skills.matching.quantities import duration_phrase, enumeration, parse_duration

MAX_TIMER_S = 7 * 86400.0  # a week: whoever wants more wants a calendar
MAX_LABEL_WORDS = 6  # a longer label is a sentence that was not about a timer

_SECOND_PERSON = {"my": "your", "me": "you", "i": "you", "myself": "yourself", "am": "are"}
_FIRST_PERSON = re.compile(rf"\b(?:{'|'.join(_SECOND_PERSON)})\b")

ALARM = "alarm"
NONE_RUNNING = "There is no timer running."


def start_timer(slots: Slots, _occasion: Occasion) -> Answer | None:
    label = _clean_label(slots.get("label", ""))
    seconds = parse_duration(slots["duration"])
    if seconds is None or len(label.split()) > MAX_LABEL_WORDS:
        return None
    if seconds > MAX_TIMER_S:
        return Answer("That is too long for me. I can count for up to a week.")
    length = duration_phrase(seconds)
    if label:
        timer = StartTimer(seconds, label, f"Your {label} timer is done.")
        return Answer(f"{label.capitalize()} timer set for {length}.", (timer,))
    timer = StartTimer(seconds, "", f"Your timer for {length} is done.")
    return Answer(f"Timer set for {length}.", (timer,))


def ask_duration(_slots: Slots, _occasion: Occasion) -> Answer:
    return Answer("For how long? Say, for example: set a timer for ten minutes.")


def start_reminder(slots: Slots, _occasion: Occasion) -> Answer | None:
    seconds = parse_duration(slots["duration"])
    if seconds is None:
        return None
    if seconds > MAX_TIMER_S:
        return Answer("That is too long for me. I can remind you within a week.")
    task = _told_back(slots["task"].strip())
    reminder = StartTimer(seconds, task, f"Remember to {task}.")
    return Answer(f"I'll remind you in {duration_phrase(seconds)} to {task}.", (reminder,))


def set_alarm(slots: Slots, occasion: Occasion) -> Answer | None:
    """An alarm at a time of day: a timer that is called after it."""
    moment = parse_moment(slots["moment"], occasion.now())
    if moment is None:
        return None
    label = f"{clock_face(moment.hour, moment.minute)} {ALARM}"
    seconds = (moment - occasion.now()).total_seconds()
    said = f"It's {clock_face(moment.hour, moment.minute)}. This is your alarm."
    return Answer(
        f"Alarm set for {_moment_phrase(moment, occasion.now())}.",
        (StartTimer(seconds, label, said),),
    )


def wake(slots: Slots, occasion: Occasion) -> Answer | None:
    """The same; who wants to be woken means the morning, unless something else is said."""
    moment = slots["moment"]
    for said in (f"in the morning {moment}", f"{moment} in the morning", moment):
        answer = set_alarm({"moment": said}, occasion)
        if answer:
            return answer
    return None


def ask_alarm_time(_slots: Slots, _occasion: Occasion) -> Answer:
    return Answer("For when? Say, for example: set an alarm for seven in the morning.")


def remind_at(slots: Slots, occasion: Occasion) -> Answer | None:
    moment = parse_moment(slots["moment"], occasion.now())
    if moment is None:
        return None
    task = _told_back(slots["task"].strip())
    seconds = (moment - occasion.now()).total_seconds()
    reminder = StartTimer(seconds, task, f"Remember to {task}.")
    return Answer(
        f"I'll remind you at {_moment_phrase(moment, occasion.now())} to {task}.", (reminder,)
    )


def cancel_alarms(slots: Slots, occasion: Occasion) -> Answer:
    """Cancel the alarm at that time, or all alarms when none was named."""
    alarms = [timer for timer in occasion.situation().timers if timer.label.endswith(ALARM)]
    if moment := parse_moment(slots.get("moment", ""), occasion.now()):
        label = f"{clock_face(moment.hour, moment.minute)} {ALARM}"
        other = label.replace("AM", "PM") if "AM" in label else label.replace("PM", "AM")
        alarms = [alarm for alarm in alarms if alarm.label in (label, other)]
    if not alarms:
        return Answer("There is no such alarm.")
    names = enumeration([f"the {alarm.label}" for alarm in alarms])
    verb = "is" if len(alarms) == 1 else "are"
    cancelled = tuple(CancelTimers(alarm.label) for alarm in alarms)
    return Answer(
        f"{names.capitalize() if len(alarms) == 1 else 'All alarms'} {verb} cancelled.", cancelled
    )


def cancel_timers(slots: Slots, occasion: Occasion) -> Answer:
    """Cancel the named timer, or all when the person named none."""
    timers = occasion.situation().timers
    label = _clean_label(slots.get("label", ""))
    if not timers:
        return Answer(NONE_RUNNING)
    if label and not _labelled(timers, label):
        return Answer(f"There is no {label} timer. {_remaining(timers)}")
    if label:
        return Answer(f"The {label} timer is cancelled.", (CancelTimers(label),))
    said = "The timer is cancelled." if len(timers) == 1 else "All timers are cancelled."
    return Answer(said, (CancelTimers(),))


def tell_remaining(slots: Slots, occasion: Occasion) -> Answer:
    timers = occasion.situation().timers
    label = _clean_label(slots.get("label", ""))
    if not timers:
        return Answer(NONE_RUNNING)
    chosen = _labelled(timers, label) if label else timers
    if not chosen:
        return Answer(f"There is no {label} timer. {_remaining(timers)}")
    return Answer(_remaining(chosen))


def _labelled(timers: tuple[Timer, ...], label: str) -> tuple[Timer, ...]:
    return tuple(timer for timer in timers if timer.label == label)


def _remaining(timers: tuple[Timer, ...]) -> str:
    """ "4 minutes left on your tea timer and 10 seconds left on your timer." """
    phrases = [
        f"{duration_phrase(timer.remaining_s)} left on your " + _name(timer) for timer in timers
    ]
    return f"{enumeration(phrases)}."


def _name(timer: Timer) -> str:
    if not timer.label or timer.label.endswith(ALARM):
        return timer.label or "timer"
    return f"{timer.label} timer"


def _moment_phrase(moment: datetime, now: datetime) -> str:
    tomorrow = " tomorrow" if moment.date() > now.date() else ""
    return f"{clock_face(moment.hour, moment.minute)}{tomorrow}"


def _told_back(task: str) -> str:
    """ "call my mother", as the assistant says it: "call your mother"."""
    return _FIRST_PERSON.sub(lambda match: _SECOND_PERSON[match[0]], task)


def _clean_label(label: str) -> str:
    label = label.strip()
    for article in ("a ", "an ", "the ", "my ", "new "):
        label = label.removeprefix(article)
    return "" if label in {"all", "every", "a", "an", "the", "my", "new", "timer"} else label


FAMILY = Family(
    intents=(
        Intent(
            "start timer",
            (
                "(set|start|make|create|give me) [a|an|the|another] timer (for|of|to) {duration}",
                "(set|start|make|create) [a|an] {label} timer (for|of) {duration}",
                "(set|start) [a|an] timer (called|named) {label} for {duration}",
                "(set|start) [a|an] {duration} timer (called|named) {label}",
                "(set|start) [a|an] timer for {duration} (called|named|for) [the] {label}",
                "(set|start|make|create|give me) [a|an] {duration} timer [for [the] {label}]",
                "timer [for] {duration}",
                "[a|an] {duration} timer",
                "wake me [up] in {duration}",
                "count [down] {duration}",
            ),
            start_timer,
        ),
        Intent("timer without a time", ("(set|start) [a|the] timer",), ask_duration),
        Intent(
            "reminder",
            (
                "remind me in {duration} to {task}",
                "remind me to {task} in {duration}",
                "in {duration} remind me to {task}",
                "set a reminder (in|for) {duration} to {task}",
            ),
            start_reminder,
        ),
        Intent(
            "alarm",
            (
                "set [an|the|another] alarm (for|at) {moment}",
                "[an] alarm (for|at) {moment}",
            ),
            set_alarm,
        ),
        Intent("wake", ("wake me [up] [at] {moment}",), wake),
        Intent("alarm without a time", ("set [an|the] alarm",), ask_alarm_time),
        Intent(
            "reminder at a time",
            (
                "remind me at {moment} to {task}",
                "remind me {moment} to {task}",
                "remind me to {task} at {moment}",
            ),
            remind_at,
        ),
        Intent(
            "cancel alarms",
            (
                "(cancel|stop|delete|clear|remove|turn off) [the|my|all [the|my]] alarm[s]",
                "(cancel|stop|delete|clear|remove|turn off) [the|my] {moment} alarm",
            ),
            cancel_alarms,
        ),
        Intent(
            "cancel timers",
            (
                "(cancel|stop|delete|clear|remove) [the|my|all [the|my]] (timer|timers)",
                "(cancel|stop|delete|clear|remove) [the|my] {label} timer",
                "(cancel|delete) [the|my|all] reminder[s]",
                "turn off the timer[s]",
            ),
            cancel_timers,
        ),
        Intent(
            "time left",
            (
                "how (long|much time|many minutes) [is|are] [there] left [on the timer]",
                "how (long|much time) is left on [the|my] {label} timer",
                "how (long|much time) is left on [the|my] timer[s]",
                "how much longer",
                "(what|which) timers (are|do i have) [there|running]",
                "(what|which) (timers|alarms) do i have [set]",
                "(list|show me|show) [all] [my|the] (timers|alarms)",
                "do i have any (timers|alarms) [set|running]",
                "how much longer on [the|my] timer",
                "when is [the|my] timer done",
            ),
            tell_remaining,
        ),
    ),
    tools=(
        Tool(
            "set_timer",
            "Start a timer that is announced aloud when it has run out.",
            start_timer,
            {"duration": "such as '10 minutes' or '1 hour 30 minutes'", "label": "a name"},
            optional=("label",),
        ),
        Tool(
            "set_reminder",
            "Say a reminder aloud after a while.",
            start_reminder,
            {"duration": "such as '10 minutes'", "task": "what to do, such as 'call mum'"},
        ),
        Tool(
            "cancel_timers",
            "Cancel the timer with this label, or all timers without one.",
            cancel_timers,
            {"label": "the timer's name"},
            optional=("label",),
        ),
        Tool("timers_left", "The running timers and their remaining time.", tell_remaining),
    ),
    open_lists={
        "duration": (
            *(f"{count} minutes" for count in range(2, 61)),
            "one minute",
            "an hour",
            "half an hour",
            "a quarter of an hour",
            "one hour and thirty minutes",
            "an hour and a half",
            "two and a half minutes",
            "one minute and thirty seconds",
            *(f"{count} seconds" for count in (10, 15, 20, 30, 45, 90)),
            *(f"{count} hours" for count in range(2, 13)),
        ),
        "moment": ("7 am", "half past 6", "noon", "5 pm", "8 tonight", "9 tomorrow"),
        "label": ("tea", "egg", "pizza", "pasta", "coffee", "laundry", "bread", "oven"),
        "task": ("call my mother", "check the oven", "drink some water", "take a break"),
    },
)
