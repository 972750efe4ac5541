"""The loudness of the assistant's speech, changed by voice, and silence.

Invariant: a change is an action for the runtime; the sentence that goes with it is short, because
it is already spoken in the new way.
"""

import re

from engine.llm.base import ChangeVolume, StopSpeaking
from engine.llm.skills.control.pace import A_BIT, NEARLY, SPEAK, TOO, Respond
from engine.llm.skills.matching.intent import (
    Answer,
    Family,
    Intent,
    Occasion,
    Slots,
    Tool,
    sentence,
)
from engine.llm.skills.matching.quantities import figure, parse_number
from engine.text.interaction import GOES_ON

VOLUME_STEP = 0.2
LEVELS = 10
_LOWER = re.compile(r"\b(?:down|decrease|lower|reduce)\b", re.IGNORECASE)


def change_volume(by: float) -> Respond:
    """A responder that moves the loudspeaker's gain."""

    def respond(_slots: Slots, occasion: Occasion) -> Answer:
        volume = occasion.situation().volume
        if by > 0 and volume >= 1 - NEARLY:
            return Answer("This is as loud as I can be.")
        if by < 0 and volume <= NEARLY:
            return Answer("This is as quiet as I can be.")
        return Answer("Louder." if by > 0 else "Quieter.", (ChangeVolume(by=by),))

    return respond


def set_volume(slots: Slots, _occasion: Occasion) -> Answer | None:
    percent = parse_number(slots["percent"])
    if percent is None:
        return None
    if not 0 <= percent <= 100:
        return Answer("The volume goes from 0 to 100 percent.")
    return Answer(f"Volume {figure(percent)} percent.", (ChangeVolume(to=percent / 100),))


def set_volume_level(slots: Slots, occasion: Occasion) -> Answer | None:
    """ "Half"; a bare number up to ten, in tenths, as on most assistants; a larger one, in
    percent.
    """
    level = parse_number(slots["level"])
    if level is None:
        return None
    percent = level * (100 if level < 1 else LEVELS if level <= LEVELS else 1)
    lowers = _LOWER.search(sentence(occasion)) and level >= 1
    if lowers and percent >= 100 * occasion.situation().volume:
        percent = level
    return set_volume({"percent": f"{percent:g}"}, occasion)


def set_volume_to(gain: float) -> Respond:
    """A responder that goes to one end of the range."""

    def respond(_slots: Slots, _occasion: Occasion) -> Answer:
        return Answer("Full volume." if gain else "Muted.", (ChangeVolume(to=gain),))

    return respond


def tell_volume(_slots: Slots, occasion: Occasion) -> Answer:
    return Answer(f"The volume is at {round(100 * occasion.situation().volume)} percent.")


def stop(_slots: Slots, _occasion: Occasion) -> Answer:
    return Answer(actions=(StopSpeaking(),))


def go_on(_slots: Slots, _occasion: Occasion) -> Answer:
    """The answer when nothing is left: an interrupted reply is resumed before any skill is
    asked."""
    return Answer("I had said all of it.")


def _set_volume_tool(slots: Slots, occasion: Occasion) -> Answer | None:
    volume = slots["volume"].strip().lower()
    if volume in {"louder", "quieter"}:
        return change_volume(VOLUME_STEP if volume == "louder" else -VOLUME_STEP)(slots, occasion)
    return set_volume({"percent": volume.removesuffix("percent").rstrip("% ")}, occasion)


_ENOUGH = "(that is|that will be) (enough|all)"
_VOLUME = (
    "[the|your|my] ([speaker[s]] (volume|sound|audio) [level]|speaker[s]) "
    "[on (the|your|my) speakers]"
)
_VOICE = f"({_VOLUME}|your voice)"
_CHANGE = (
    f"[set|turn|put|bring|change|make|keep|adjust|i want|i need|increase|raise|decrease|"
    f"lower|reduce] {_VOLUME} "
    "[up|down|set|(should|needs to|must) be [set]]"
)

FAMILY = Family(
    intents=(
        Intent(
            "louder",
            (
                f"({SPEAK}|get) [{A_BIT}] louder [volume]",
                f"speak up [{A_BIT}]",
                f"(turn|bring) {_VOICE} up [{A_BIT}]",
                "[turn] [it] volume (up|increase)",
                f"turn it up [{A_BIT}]",
                f"(increase|raise|turn up|bring up) {_VOICE} [{A_BIT}]",
                "([speak up] i (cannot|can barely) hear you|[(you are|that is)] too quiet)",
                f"{_VOLUME} is [{TOO}] too (low|quiet)",
                f"(make|set|i want|i need) {_VOLUME} [to be] (louder|higher)",
                f"{_VOLUME} (should|needs to|must) be (increased|raised|louder|higher)",
            ),
            change_volume(VOLUME_STEP),
        ),
        Intent(
            "quieter",
            (
                f"{SPEAK} [{A_BIT}] (quieter|softer|less loud|more quietly)",
                f"(turn|bring) {_VOICE} down [{A_BIT}]",
                "[turn] [it] volume (down|decrease)",
                f"turn it down [{A_BIT}]",
                f"(decrease|lower|reduce|turn down|bring down|cut down) {_VOICE} [{A_BIT}]",
                "[(you are|that is)] too loud",
                "do not (talk|speak|be) so (loud|loudly)",
                "not so loud",
                f"{_VOLUME} is [{TOO}] too (high|loud)",
                f"(make|set|i want|i need) {_VOLUME} [to be] (lower|quieter|softer)",
                f"{_VOLUME} (should|needs to|must) be (decreased|lowered|quieter|lower)",
            ),
            change_volume(-VOLUME_STEP),
        ),
        Intent(
            "set volume",
            (
                f"{_CHANGE} (to|at) {{percent}} percent",
                "[set|turn|put|bring] [the|your] volume {percent} percent",
                "turn it (up|down) to {percent} percent",
            ),
            set_volume,
        ),
        Intent(
            "set volume level",
            (
                f"{_CHANGE} (to|at) {{level}}",
                "[set|turn|put|bring] [the|your] volume {level}",
                "turn it (up|down) to {level}",
            ),
            set_volume_level,
        ),
        Intent(
            "full volume",
            (
                "(full|maximum|max) volume",
                f"[set|turn|put|increase|raise|turn up] {_VOLUME} [up] [to] [the] "
                "(maximum|max|full)",
                f"turn {_VOLUME} all the way up",
                f"unmute [yourself|{_VOLUME}]",
            ),
            set_volume_to(1.0),
        ),
        Intent(
            "mute",
            (
                f"(mute|silence|turn off) {_VOLUME}",
                f"(turn {_VOLUME}|speakers|sound) off",
                "mute [yourself]",
            ),
            set_volume_to(0.0),
        ),
        Intent("tell volume", ("(what is [the|your] volume|how loud are you)",), tell_volume),
        Intent(
            "stop",
            (
                f"[{_ENOUGH}] [just] (stop|quit) [doing] [it|that|talking|speaking|reading|now]",
                "(stop what you are doing|abort [it])",
                f"[{_ENOUGH}] cancel",
                f"{_ENOUGH} [just] cancel [it|that]",
                "([be|stay|keep] (quiet|silent)|silence|shut up|hush|shush|enough)",
                "(never mind|nevermind)",
                "(do not|no longer) (speak|talk|say anything) [any more|anymore]",
                "(stop|cancel|abort|end|halt) [the|your|this] [current|present] "
                "(task|action|process|speech|answer)",
                "(pause|wait|hold on|hang on) [(a|1) (second|moment|minute|sec)]",
                "(pause|stop) (it|that|yourself|there|for a (moment|second|minute))",
                "([just] (a|1) (moment|second|minute)|give me a (second|moment|minute))",
                _ENOUGH,
                "stop (stop|it) [stop]",
            ),
            stop,
        ),
        Intent("go on", GOES_ON, go_on, certain=False),
    ),
    tools=(
        Tool(
            "set_volume",
            "Change how loud you speak.",
            _set_volume_tool,
            {"volume": "'louder', 'quieter', or a percentage from 0 to 100"},
        ),
        Tool("stop_speaking", "Say nothing more now.", stop),
    ),
    open_lists={
        "percent": tuple(str(percent) for percent in range(0, 101, 5)),
        "level": tuple(str(level) for level in range(11)),
    },
)
