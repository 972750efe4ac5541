"""The pace of the assistant's speech, changed by voice.

Invariant: a change is an action for the runtime; the sentence that goes with it is short, because
it is already spoken in the new way.
"""

from collections.abc import Callable

from engine.llm.base import ChangeRate
from engine.llm.skills.matching.intent import Answer, Family, Intent, Occasion, Slots, Tool
from engine.llm.skills.matching.quantities import figure, parse_number

SLOWEST, FASTEST = 1.0, 7.0  # SPS, the range of the rate slider
STEP, BIT, LOT = 0.7, 0.3, 1.5  # SPS; at the usual 4 SPS a step is clearly heard, a bit just so
NEARLY = 0.01
_COMMON = 4.0  # SPS, where no rate is set

Respond = Callable[[Slots, Occasion], Answer | None]


def change_rate(by: float) -> Respond:
    """A responder that changes the pace by this many SPS."""

    def respond(_slots: Slots, occasion: Occasion) -> Answer:
        rate = occasion.situation().rate
        if rate is not None and by > 0 and rate >= FASTEST - NEARLY:
            return Answer("I can't speak any faster.")
        if rate is not None and by < 0 and rate <= SLOWEST + NEARLY:
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


def _set_pace_tool(slots: Slots, occasion: Occasion) -> Answer | None:
    pace = slots["pace"].strip().lower()
    if pace in {"faster", "slower"}:
        return change_rate(STEP if pace == "faster" else -STEP)(slots, occasion)
    return own_pace(slots, occasion) if pace == "normal" else set_rate({"rate": pace}, occasion)


# How sentences about the voice begin, and by how much it is to change.
SPEAK = "[((speak|talk) [to me]|go|read|say it|say that|be)]"
A_BIT = "(a (little|bit|little bit)|slightly)"
_LOT = "(much|a lot|way)"
TOO = "(far|way|much|a bit|a little|a little bit|slightly|still)"
_FOR_ME = "[for me] [please] [slow down]"
_TALKING = "(talking|speaking|reading|going)"
# "Your speaking speed", "the rate at which you talk".
_PACE = (
    "[the|your] [speaking|talking|speech|reading] (speed|rate|pace) "
    "[of your (speech|voice)|[at which] you (talk|speak) [at]]"
)
_SPEECH = f"({_PACE}|[the|your] (speech|talking|speaking))"

FAMILY = Family(
    intents=(
        Intent(
            "slower",
            (
                f"{SPEAK} (slower|more slowly) [to me]",
                "(speak|talk) at a slower (rate|pace|speed)",
                "slower slower",
                "slow down",
                f"[(you are|that is|that was)] [{_TALKING}] [{TOO}] too (fast|quick) {_FOR_ME}",
                "you (talk|speak) too (fast|quickly)",
                "i cannot keep up [slow down]",
                "(not|do not|stop) (talk|speak|read|talking|speaking) so (fast|quickly)",
                "not so fast",
                f"slow [down] ({_SPEECH}|your voice) [down]",
                f"(decrease|lower|reduce) {_PACE}",
                f"(make|change|adjust|turn|set) {_SPEECH} [to] [be] [a] (slower [setting]|down)",
            ),
            change_rate(-STEP),
        ),
        Intent(
            "a bit slower",
            (f"{SPEAK} {A_BIT} (slower|more slowly)", f"slow down {A_BIT}"),
            change_rate(-BIT),
        ),
        Intent(
            "much slower",
            (f"{SPEAK} {_LOT} (slower|more slowly)", "slow down a lot"),
            change_rate(-LOT),
        ),
        Intent(
            "faster",
            (
                f"{SPEAK} (faster|quicker|more quickly)",
                "(speak|talk) at a (faster|quicker) (rate|pace|speed)",
                "[speak|talk] faster faster [faster]",
                "(speed up|speed it up)",
                "hurry up",
                f"[(you are|that is|that was)] [{_TALKING}] [{TOO}] too slow",
                "you (talk|speak) too (slow|slowly)",
                "(not|do not|stop) (talk|speak|read|talking|speaking) so (slow|slowly)",
                f"speed [up] ({_SPEECH}|your voice) [up]",
                f"(increase|raise) {_PACE}",
                f"(make|change|adjust|turn|set) {_SPEECH} [to] [be] [a] "
                "((faster|quicker) [setting]|up)",
            ),
            change_rate(STEP),
        ),
        Intent(
            "a bit faster",
            (f"{SPEAK} {A_BIT} (faster|quicker|more quickly)", f"speed [it] up {A_BIT}"),
            change_rate(BIT),
        ),
        Intent(
            "much faster",
            (f"{SPEAK} {_LOT} (faster|quicker|more quickly)", "speed up a lot"),
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
                f"{SPEAK} (twice as|2 times as|double as) (fast|quick|quickly)",
                f"{SPEAK} [at] double {_PACE}",
            ),
            scale_rate(2.0),
        ),
        Intent(
            "3 times as fast",
            (f"{SPEAK} 3 times as (fast|quick|quickly)",),
            scale_rate(3.0),
        ),
        Intent(
            "half as fast",
            (
                f"{SPEAK} half as (fast|quick|quickly)",
                f"{SPEAK} twice as (slow|slowly)",
                f"{SPEAK} [at] half [the] speed",
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
    ),
    tools=(
        Tool(
            "set_pace",
            "Change how fast you speak.",
            _set_pace_tool,
            {"pace": "'slower', 'faster', 'normal', or syllables per second from 1 to 7"},
        ),
    ),
    open_lists={
        "rate": ("one", "two", "three", "four", "five", "six", "seven", "four point five"),
    },
)
