"""Setting timers.

Invariant: a skill starts one by an action and never waits.
"""

import re

from engine.llm.base import StartTimer
from engine.llm.skills.matching.intent import Answer, FollowUp, Intent, Occasion, Skill, Slots, Tool
from engine.llm.skills.matching.quantities import (
    duration_phrase,
    enumeration,
    parse_duration,
    parse_number,
)
from engine.llm.skills.timers.choosing import clean_label, is_label, named, running
from engine.messages.timers import CancelTimers, ExtendTimers

MAX_TIMER_S = 7 * 86400.0  # a week; for longer times people need a calendar
TOO_LONG = "That is too long for me. I can count for up to a week."

# How people ask for a timer, an alarm or a reminder, up to its name.
SET = (
    "(set [up]|start|make [up]|create|schedule|run|begin|put (on|in)|turn on|add|give|get|new"
    "|i need|i want|i would like|want) [me] [a|an|the|my|another|one more|1 more] [new]"
)

_ENUMERATED = re.compile(r" and |, ?")
_SAYINGS = frozenset(
    ("even", "quits", "day", "night", "square", "off", "done", "good")
)  # "call it"
_UNIT = re.compile(r"(\w+)$")


def start_timer(slots: Slots, _occasion: Occasion) -> Answer | None:
    label = clean_label(slots.get("label", ""))
    if re.match(r"^0 \w+$", slots["duration"].strip()):
        return Answer("That would be over already.")
    seconds = parse_duration(slots["duration"])
    if seconds is None:
        return None
    if seconds > MAX_TIMER_S:
        return Answer(TOO_LONG)
    length = duration_phrase(seconds)
    if label:
        timer = StartTimer(seconds, label, f"Your {label} timer is done.")
        return Answer(f"{label.capitalize()} timer set for {length}.", (timer,))
    timer = StartTimer(seconds, "", f"Your timer for {length} is done.")
    return Answer(f"Timer set for {length}.", (timer,))


def start_named(slots: Slots, occasion: Occasion) -> Answer | None:
    """ "3 minute tea", "the oven 25 minutes": a name beside a duration."""
    words = slots["timed"].split()
    for at in range(1, len(words)):
        parts = " ".join(words[:at]), " ".join(words[at:])
        for label, duration in (parts, parts[::-1]):
            label = label.removeprefix("for ")
            if is_label(label) and parse_duration(duration) is not None:
                return start_timer({"label": label, "duration": duration}, occasion)
    return None


def start_several(slots: Slots, occasion: Occasion) -> Answer | None:
    """ "5 and 10 minutes": one timer each; the last unit counts for those that name none."""
    said = _ENUMERATED.split(slots["durations"].strip())
    unit = _UNIT.search(said[-1])
    lengths = [f"{each} {unit[1]}" if unit and each.isdigit() else each for each in said]
    started = [start_timer({"duration": each}, occasion) for each in lengths]
    timers = tuple(action for each in started if each is not None for action in each.actions)
    if len(said) < 2 or len(timers) < len(said):
        return None
    return Answer(f"Timers set for {enumeration(lengths)}.", timers)


def name_timer(slots: Slots, occasion: Occasion) -> Answer | None:
    """Give the newest timer another name."""
    timers, label = running(occasion), clean_label(slots["label"])
    if not timers or not label or label in _SAYINGS:
        return None
    newest = max(timers, key=lambda timer: timer.number)
    answer = start_timer({"label": label, "duration": f"{newest.remaining_s} seconds"}, occasion)
    cancelled = CancelTimers((newest.number,))
    return answer and Answer(f"It's the {label} timer now.", (cancelled, *answer.actions))


def ask_duration(_slots: Slots, _occasion: Occasion) -> Answer:
    return Answer("For how long? Say, for example: ten minutes.")


def change_length(slots: Slots, occasion: Occasion) -> Answer | None:
    """ "Make it 12" just after a timer was set; it changes the newest one of that name."""
    seconds = parse_duration(slots["duration"])
    timers = running(occasion)
    label = clean_label(slots.get("label", ""))
    found = named(label, timers) if label else tuple(t for t in timers if not t.label)
    if seconds is None or not found:
        return None
    if seconds > MAX_TIMER_S:
        return Answer(TOO_LONG)
    newest = max(found, key=lambda timer: timer.number)
    change = seconds - newest.remaining_s
    return Answer(f"Now {duration_phrase(seconds)}.", (ExtendTimers((newest.number,), change),))


def in_minutes(before: Slots, now: Slots, _occasion: Occasion) -> Slots:
    """A bare number, after the question for how long, counts minutes."""
    duration = now["duration"]
    unit = " minutes" if parse_number(duration) is not None else ""
    return {**before, "duration": f"{duration}{unit}"}


def start_in_minutes(slots: Slots, occasion: Occasion) -> Answer | None:
    """ "Set a timer for ten": as after the question for how long."""
    counted = in_minutes({}, slots, occasion)
    return start_timer(counted, occasion) if counted != slots else None


def another_length(before: Slots, now: Slots, occasion: Occasion) -> Slots | None:
    """A new duration, in the unit of the previous one if it names none ("make it 12")."""
    duration, previous = now["duration"], in_minutes({}, before, occasion)["duration"]
    if parse_number(duration) is not None and (unit := _UNIT.search(previous)):
        duration = f"{duration} {unit[1]}"
    return {"duration": duration, "label": now.get("label", before.get("label", ""))}


def another_timer(before: Slots, now: Slots, occasion: Occasion) -> Slots | None:
    changed = another_length(before, now, occasion)
    return changed and {**changed, "label": now.get("label", "")}


SKILL = Skill(
    intents=(
        Intent(
            "start timer",
            (
                "set a timer for {duration}",
                f"{SET} (timer|countdown) [for me] [set|(that is set)] "
                "(for|of|to|at|(to go off in)) {duration} [from]",
                "(set|start|make|create) [a|an|the|my] {label} timer (for|of|to) {duration}",
                "(set|start) [a|an|another] timer (called|named) {label} for {duration}",
                "(set|start) [a|an|another] timer for {label} for {duration}",
                "(set|start) [a|an] {duration} timer (called|named) {label}",
                "(set|start) [a|an|another] timer for {duration} (called|named|for) [the] {label}",
                f"{SET} {{duration}} (timer|countdown) [for [the] {{label}}]",
                "(set|start) (another|a second|a 2nd) [1] for {duration} "
                "[(for|called|named) [the] {label}]",
                "timer [for] {duration}",
                "{label} timer [for] {duration}",
                "[a|an] {duration} timer",
                "(wake|alert|notify) me [up] (in|after) {duration}",
                "count [down] [from] {duration}",
                "[put] {duration} on the (clock|timer)",
                "time {duration}",
                "(when|after|once) {duration} (is|are|has|have) [passed] [(up|over|passed|gone)]",
            ),
            start_timer,
        ),
        Intent(
            "start timer in minutes",
            ("(set|start|make|create) [a|an|another] timer (for|of) {duration}",),
            start_in_minutes,
        ),
        Intent(
            "start named timer",
            (
                "(set|start|make|create) [a|an|another] {timed} timer",
                "{timed} timer",
                "timer [for] {timed}",
            ),
            start_named,
        ),
        Intent(
            "start timers",
            ("(set|start|make|create) [2|3|some|several] timers (for|of) {durations}",),
            start_several,
        ),
        Intent(
            "name timer",
            ("(call|name|label|rename) [the|my] (timer|last timer) [to] {label}",),
            name_timer,
        ),
        Intent(
            "timer without a time",
            ("set a timer", f"{SET} timer [set]", "[a] timer"),
            ask_duration,
        ),
        Intent(
            "change length", ("(make|set) [the|my] {label} timer to {duration}",), change_length
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
    ),
    follow_ups=(
        FollowUp(
            ("timer without a time",), ("[for] {duration}",), asks="start timer", combine=in_minutes
        ),
        FollowUp(
            ("start timer", "start timer in minutes", "change length", "add time", "take time"),
            (
                "(make|change|set) (it|that) [to] {duration}",
                "[no] [i meant|i mean|make it] {duration}",
            ),
            asks="change length",
            combine=another_length,
        ),
        FollowUp(
            ("start timer", "start timer in minutes", "start named timer", "change length"),
            ("(call|name|label) (it|that|this|(this|that) (one|1|timer)) {label}",),
            asks="name timer",
        ),
        FollowUp(
            ("start timer",),
            (
                "(another|(one|1) more|a 2nd|a second) [(one|1|timer)] [(for|of)] {duration}",
                "(another|(one|1) more|a 2nd|a second) [(one|1|timer)] for {duration} "
                "(called|named|for) {label}",
            ),
            asks="start timer",
            combine=another_timer,
        ),
    ),
    examples={
        "timed": ("three minute tea", "ten minute egg", "the oven twenty minutes"),
        "durations": ("five and ten minutes", "two minutes and five minutes"),
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
        "label": ("tea", "egg", "pizza", "pasta", "coffee", "laundry", "bread", "oven"),
    },
    fits={"label": is_label},
)
