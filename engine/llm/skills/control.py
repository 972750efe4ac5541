"""Control of the assistant's own speech by voice: pace, loudness, silence.

Invariant: a change is an action for the runtime; the sentence that goes with it is short, because
it is already spoken in the new way.
"""

from collections.abc import Callable

from engine.llm.base import ChangeRate, ChangeVolume, StopSpeaking
from engine.llm.skills.matching.intent import Answer, Family, Intent, Occasion, Slots, Tool
from engine.llm.skills.matching.quantities import figure, parse_number
from engine.text.interaction import GOES_ON

SLOWEST, FASTEST = 1.0, 7.0  # SPS, the range of the rate slider
STEP, BIT, LOT = 0.7, 0.3, 1.5  # SPS; at the usual 4 SPS a step is clearly heard, a bit just so
VOLUME_STEP = 0.2
_NEARLY = 0.01
_COMMON = 4.0  # SPS, where no rate is set

Respond = Callable[[Slots, Occasion], Answer | None]


def change_rate(by: float) -> Respond:
    """A responder that changes the pace by this many SPS."""

    def respond(_slots: Slots, occasion: Occasion) -> Answer:
        rate = occasion.situation().rate
        if rate is not None and by > 0 and rate >= FASTEST - _NEARLY:
            return Answer("I can't speak any faster.")
        if rate is not None and by < 0 and rate <= SLOWEST + _NEARLY:
            return Answer("I can't speak any slower.")
        said = "Speaking faster." if by > 0 else "Speaking slower."
        return Answer(said, (ChangeRate(by=by),))

    return respond


def set_rate(slots: Slots, _occasion: Occasion) -> Answer | None:
    rate = parse_number(slots["rate"])
    if rate is None:
        return None
    if not SLOWEST <= rate <= FASTEST:
        return Answer(
            f"I can speak at {SLOWEST:g} to {FASTEST:g} syllables per second, not {figure(rate)}."
        )
    unit = "syllable" if rate == 1 else "syllables"
    return Answer(f"Speaking at {figure(rate)} {unit} per second.", (ChangeRate(to=rate),))


def set_rate_limit(rate: float) -> Respond:
    """A responder that goes to one end of the range."""

    def respond(_slots: Slots, _occasion: Occasion) -> Answer:
        said = "As fast as I can." if rate == FASTEST else "As slowly as I can."
        return Answer(said, (ChangeRate(to=rate),))

    return respond


def scale_rate(factor: float) -> Respond:
    """A responder that multiplies the pace; for the voice's own pace it assumes a common one."""

    def respond(_slots: Slots, occasion: Occasion) -> Answer:
        rate = min(FASTEST, max(SLOWEST, factor * (occasion.situation().rate or _COMMON)))
        said = "Speaking faster." if factor > 1 else "Speaking slower."
        return Answer(said, (ChangeRate(to=round(rate, 1)),))

    return respond


def own_pace(_slots: Slots, _occasion: Occasion) -> Answer:
    return Answer("Back to my own pace.", (ChangeRate(),))


def tell_rate(_slots: Slots, occasion: Occasion) -> Answer:
    rate = occasion.situation().rate
    if rate is None:
        return Answer("I'm speaking at my own pace.")
    return Answer(f"I'm speaking at {figure(round(rate, 1))} syllables per second.")


def change_volume(by: float) -> Respond:
    """A responder that moves the loudspeaker's gain."""

    def respond(_slots: Slots, occasion: Occasion) -> Answer:
        volume = occasion.situation().volume
        if by > 0 and volume >= 1 - _NEARLY:
            return Answer("This is as loud as I can be.")
        if by < 0 and volume <= _NEARLY:
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


def _set_pace_tool(slots: Slots, occasion: Occasion) -> Answer | None:
    pace = slots["pace"].strip().lower()
    if pace in {"faster", "slower"}:
        return change_rate(STEP if pace == "faster" else -STEP)(slots, occasion)
    return own_pace(slots, occasion) if pace == "normal" else set_rate({"rate": pace}, occasion)


def _set_volume_tool(slots: Slots, occasion: Occasion) -> Answer | None:
    volume = slots["volume"].strip().lower()
    if volume in {"louder", "quieter"}:
        return change_volume(VOLUME_STEP if volume == "louder" else -VOLUME_STEP)(slots, occasion)
    return set_volume({"percent": volume.removesuffix("percent").rstrip("% ")}, occasion)


_SPEAK = "[(speak|talk|go|read|say it|say that|be)]"
_BIT = "(a (little|bit|little bit)|slightly)"
_LOT = "(much|a lot|way)"
_TOO = "(far|way|much|a bit|a little|a little bit|slightly|still)"
_TALKING = "(talking|speaking|reading|going)"
_VOLUME = "[the|your] volume"

FAMILY = Family(
    intents=(
        Intent(
            "slower",
            (
                f"{_SPEAK} (slower|more slowly)",
                "slower slower",
                "slow down",
                f"[(you are|that is|that was)] [{_TALKING}] [{_TOO}] too (fast|quick)",
                "you (talk|speak) too (fast|quickly)",
                "i cannot keep up [slow down]",
                "not so fast",
            ),
            change_rate(-STEP),
        ),
        Intent(
            "a bit slower",
            (f"{_SPEAK} {_BIT} (slower|more slowly)", f"slow down {_BIT}"),
            change_rate(-BIT),
        ),
        Intent(
            "much slower",
            (f"{_SPEAK} {_LOT} (slower|more slowly)", "slow down a lot"),
            change_rate(-LOT),
        ),
        Intent(
            "faster",
            (
                f"{_SPEAK} (faster|quicker|more quickly)",
                "[speak|talk] faster faster [faster]",
                "(speed up|speed it up)",
                "hurry up",
                f"[(you are|that is|that was)] [{_TALKING}] [{_TOO}] too slow",
                "you (talk|speak) too (slow|slowly)",
            ),
            change_rate(STEP),
        ),
        Intent(
            "a bit faster",
            (f"{_SPEAK} {_BIT} (faster|quicker|more quickly)", f"speed [it] up {_BIT}"),
            change_rate(BIT),
        ),
        Intent(
            "much faster",
            (f"{_SPEAK} {_LOT} (faster|quicker|more quickly)", "speed up a lot"),
            change_rate(LOT),
        ),
        Intent(
            "fastest",
            ("[speak|talk] as (fast|quickly) as (you can|possible)", "full speed"),
            set_rate_limit(FASTEST),
        ),
        Intent(
            "slowest",
            ("[speak|talk] as (slow|slowly) as (you can|possible)",),
            set_rate_limit(SLOWEST),
        ),
        Intent(
            "twice as fast",
            (
                f"{_SPEAK} (twice as|2 times as|double as) (fast|quick|quickly)",
                f"{_SPEAK} [at] double [the] speed",
            ),
            scale_rate(2.0),
        ),
        Intent(
            "3 times as fast",
            (f"{_SPEAK} 3 times as (fast|quick|quickly)",),
            scale_rate(3.0),
        ),
        Intent(
            "half as fast",
            (
                f"{_SPEAK} half as (fast|quick|quickly)",
                f"{_SPEAK} twice as (slow|slowly)",
                f"{_SPEAK} [at] half [the] speed",
            ),
            scale_rate(0.5),
        ),
        Intent(
            "set rate",
            (
                "[speak|talk|go] [at|with] {rate} syllable[s] (per|a|/) second",
                "set [the|your] (rate|pace|speed) to {rate} [syllables (per|a) second]",
                "[speak|talk] at [a] (rate|pace|speed) [of] {rate}",
            ),
            set_rate,
        ),
        Intent(
            "own pace",
            (
                "[speak|talk] [at] [a|your|the] (normal|own|usual|natural) (pace|speed|rate)",
                "[speak|talk] normally [again]",
                "[go] back to [your] normal [speed|pace]",
                "reset [the|your] (pace|speed|rate)",
            ),
            own_pace,
        ),
        Intent(
            "tell rate",
            (
                "how fast (are you|do you) (speaking|talking|speak|talk)",
                "what is [the|your] [speaking] (pace|rate|speed)",
            ),
            tell_rate,
        ),
        Intent(
            "louder",
            (
                f"{_SPEAK} [{_BIT}] louder",
                f"speak up [{_BIT}]",
                f"turn {_VOLUME} up",
                f"turn up {_VOLUME}",
                "[turn] [it] volume up",
                f"turn it up [{_BIT}]",
                f"(increase|raise) {_VOLUME}",
                "raise your voice",
                "([speak up] i cannot hear you|[(you are|that is)] too quiet)",
            ),
            change_volume(VOLUME_STEP),
        ),
        Intent(
            "quieter",
            (
                f"{_SPEAK} [{_BIT}] (quieter|softer|less loud|more quietly)",
                f"turn {_VOLUME} down",
                f"turn down {_VOLUME}",
                "[turn] [it] volume down",
                f"turn it down [{_BIT}]",
                f"(decrease|lower|reduce) {_VOLUME}",
                "lower your voice",
                "[(you are|that is)] too loud",
                "not so loud",
            ),
            change_volume(-VOLUME_STEP),
        ),
        Intent(
            "set volume",
            (
                f"[set|turn|put|bring] {_VOLUME} [up|down] [to|at] {{percent}} [percent]",
                "volume {percent} [percent]",
                "turn it (up|down) to {percent} [percent]",
            ),
            set_volume,
        ),
        Intent(
            "full volume",
            (
                "(full|maximum|max) volume",
                f"[set] {_VOLUME} [to] (maximum|max|full)",
                f"turn {_VOLUME} all the way up",
                "unmute",
            ),
            set_volume_to(1.0),
        ),
        Intent("mute", ("mute [yourself|the sound]",), set_volume_to(0.0)),
        Intent("tell volume", ("(what is [the|your] volume|how loud are you)",), tell_volume),
        Intent(
            "stop",
            (
                "stop [it|that|talking|speaking|reading|now]",
                "(be quiet|quiet|silence|shut up|hush|shush|enough|cancel|never mind|nevermind)",
                "(pause|wait|hold on|hang on) [(a|1) (second|moment|minute|sec)]",
                "(pause|stop) (it|that|yourself|there|for a (moment|second|minute))",
                "([just] (a|1) (moment|second|minute)|give me a (second|moment|minute))",
                "(that is|that will be) (enough|all)",
                "stop (stop|it) [stop]",
            ),
            stop,
        ),
        Intent("go on", GOES_ON, go_on, certain=False),
    ),
    tools=(
        Tool(
            "set_pace",
            "Change how fast you speak.",
            _set_pace_tool,
            {"pace": "'slower', 'faster', 'normal', or syllables per second from 1 to 7"},
        ),
        Tool(
            "set_volume",
            "Change how loud you speak.",
            _set_volume_tool,
            {"volume": "'louder', 'quieter', or a percentage from 0 to 100"},
        ),
        Tool("stop_speaking", "Say nothing more now.", stop),
    ),
    open_lists={
        "rate": ("one", "two", "three", "four", "five", "six", "seven", "four point five"),
        "percent": tuple(str(percent) for percent in range(0, 101, 5)),
    },
)
