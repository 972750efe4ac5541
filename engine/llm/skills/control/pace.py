"""The pace of the assistant's speech, changed by voice.

Invariant: a change is an action for the runtime; its sentence is short, because it is already
spoken in the new way.
"""

from engine.llm.base import ChangeRate
from engine.llm.skills.matching.intent import Answer, SkillContext, Slots
from engine.llm.skills.matching.quantities import figure, number
from engine.settings import SLOWEST

STEP, BIT, LOT = 0.7, 0.3, 1.5  # SPS; at the usual 4 SPS a step is clearly heard, a bit just so
NEARLY = 0.01
_COMMON = 4.0  # SPS, where no rate is set

_STEPS = {"a step": STEP, "a bit": BIT, "a lot": LOT}


def change_rate(slots: Slots, context: SkillContext) -> Answer:
    """Speak `much` ("a step", "a bit", "a lot") faster or slower, as `way` says."""
    rate, faster = context.state().rate, slots["way"] == "faster"
    if rate is not None and faster and rate >= _fastest(context) - NEARLY:
        return Answer("I can't speak any faster.")
    if rate is not None and not faster and rate <= SLOWEST + NEARLY:
        return Answer("I can't speak any slower.")
    by = _STEPS[slots["much"]]
    return Answer(f"Speaking {slots['way']}.", (ChangeRate(by=by if faster else -by),))


def set_rate(slots: Slots, context: SkillContext) -> Answer:
    rate, fastest = number(slots["rate"]), _fastest(context)
    if not SLOWEST <= rate <= fastest:
        return Answer(
            f"I can speak at {SLOWEST:g} to {fastest:g} syllables per second, not {figure(rate)}."
        )
    unit = "syllable" if rate == 1 else "syllables"
    return Answer(f"Speaking at {figure(rate)} {unit} per second.", (ChangeRate(to=rate),))


def speak_at_end(slots: Slots, context: SkillContext) -> Answer:
    """Speak at the `end` of the range: as "fast" or as "slowly" as possible."""
    rate = _fastest(context) if slots["end"] == "fast" else SLOWEST
    return Answer(f"As {slots['end']} as I can.", (ChangeRate(to=rate),))


def scale_rate(slots: Slots, context: SkillContext) -> Answer:
    """Multiply the pace by `factor`; a usual pace stands for the voice's own."""
    factor = float(slots["factor"])
    rate = min(_fastest(context), max(SLOWEST, factor * (context.state().rate or _COMMON)))
    said = "Speaking faster." if factor > 1 else "Speaking slower."
    return Answer(said, (ChangeRate(to=round(rate, 1)),))


def own_pace(_slots: Slots, _context: SkillContext) -> Answer:
    return Answer("Back to my own pace.", (ChangeRate(),))


def tell_rate(_slots: Slots, context: SkillContext) -> Answer:
    rate = context.state().rate
    if rate is None:
        return Answer("I'm speaking at my own pace.")
    return Answer(f"I'm speaking at {figure(round(rate, 1))} syllables per second.")


def set_pace(slots: Slots, context: SkillContext) -> Answer:
    """Set the pace for a language model: "faster", "slower", "normal" or a rate."""
    pace = slots["pace"].strip().lower()
    if pace in {"faster", "slower"}:
        return change_rate({"way": pace, "much": "a step"}, context)
    return own_pace(slots, context) if pace == "normal" else set_rate({"rate": pace}, context)


def _fastest(context: SkillContext) -> float:
    return context.state().settings.speech.fastest
