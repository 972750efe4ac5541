"""The assistant's own speech: pace, loudness and silence, and requests about them alone ("slower,
please"), which are carried out during a reply and get no reply of their own.

Invariant: a change is an action for the runtime; its sentence is short, because it is already
spoken in the new way. A request means the same during a reply and between two.
"""

import re
from functools import cache
from typing import Final

from engine.llm.base import AssistantState, ChangeRate, ChangeVolume, StopSpeaking
from engine.llm.skills.matching.fillings import word_set
from engine.llm.skills.matching.intent import Answer, SkillContext, Slots, sentence
from engine.llm.skills.matching.quantities import figure, number
from engine.llm.skills.matching.repertoire import intents_of, repertoire, wished
from engine.messages.commands import ChangeSetting
from engine.settings import SLOWEST, SettingKey, Settings, change

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


VOLUME_STEP = 0.2
LEVELS = 10
_LOWER = re.compile(r"\b(?:down|decrease|lower|reduce)\b", re.IGNORECASE)


def change_volume(slots: Slots, context: SkillContext) -> Answer:
    """Move the loudspeaker's gain by a step, as `way` says: "louder" or "quieter"."""
    volume, louder = context.state().volume, slots["way"] == "louder"
    if louder and volume >= 1 - NEARLY:
        return Answer("This is as loud as I can be.")
    if not louder and volume <= NEARLY:
        return Answer("This is as quiet as I can be.")
    by = VOLUME_STEP if louder else -VOLUME_STEP
    return Answer(f"{slots['way'].capitalize()}.", (ChangeVolume(by=by),))


def set_volume(slots: Slots, _context: SkillContext) -> Answer:
    percent = number(slots["percent"])
    if not 0 <= percent <= 100:
        return Answer("The volume goes from 0 to 100 percent.")
    return Answer(f"Volume {figure(percent)} percent.", (ChangeVolume(to=percent / 100),))


def set_volume_level(slots: Slots, context: SkillContext) -> Answer:
    """Set the volume: "half"; a number up to ten in tenths; a larger one in percent."""
    level = number(slots["level"])
    percent = level * (100 if level < 1 else LEVELS if level <= LEVELS else 1)
    lowers = _LOWER.search(sentence(context)) and level >= 1
    if lowers and percent >= 100 * context.state().volume:
        percent = level
    return set_volume({"percent": f"{percent:g}"}, context)


def unmute(_slots: Slots, context: SkillContext) -> Answer:
    """Set full volume; if speech was not silent, the microphone is meant."""
    state = context.state()
    if state.settings.audio.muted and state.volume > NEARLY:
        return Answer("I'm listening.", (ChangeSetting(SettingKey.MUTED, False),))
    return Answer("Full volume.", (ChangeVolume(to=1.0),))


def mute(_slots: Slots, _context: SkillContext) -> Answer:
    return Answer("Muted.", (ChangeVolume(to=0.0),))


def volume(_slots: Slots, context: SkillContext) -> Slots:
    return {"percent": str(round(100 * context.state().volume))}


def stop(_slots: Slots, _context: SkillContext) -> Answer:
    return Answer(actions=(StopSpeaking(),))


def volume_tool(slots: Slots, context: SkillContext) -> Answer:
    """Set the volume for a language model: "louder", "quieter" or a percentage."""
    volume = slots["volume"].strip().lower()
    if volume in {"louder", "quieter"}:
        return change_volume({"way": volume}, context)
    return set_volume({"percent": volume.removesuffix("percent").rstrip("% ")}, context)


_NAMES: Final = frozenset(
    f"{much}{way}" for way in ("slower", "faster") for much in ("", "a bit ", "much ")
) | {
    *("fastest", "slowest", "set rate", "own pace", "twice as fast", "half as fast"),
    *("louder", "quieter", "set volume", "set volume level", "least volume", "full volume"),
}
_NOT_AT_A_LIMIT: Final = AssistantState(  # the engine sets it
    rate=None,
    volume=0.5,
    voice="",
    voices=(),
    settings=change(Settings(), SettingKey.FAST, value=True),
)
_WORD: Final = re.compile(r"[a-z]+")
_AROUND: Final = word_set("around_wish")
_ABOUT: Final = word_set("about_wish")


def speech_wish(said: str) -> ChangeRate | ChangeVolume | None:
    """Return the requested change; None if the text says something else, or more than that."""
    asked = wished(said, _NAMES, _NOT_AT_A_LIMIT)
    return next((each for each in asked if isinstance(each, ChangeRate | ChangeVolume)), None)


def may_become_speech_wish(said: str) -> bool:
    """Return whether the first words of an unfinished sentence may become such a request. The
    last word may be incomplete: "slow down we" can become "slow down please".
    """
    words = _WORD.findall(said.lower().replace("'", ""))
    whole = words[:-1] or words
    return not _ABOUT.isdisjoint(words) and _vocabulary().issuperset(whole)


@cache
def _vocabulary() -> frozenset[str]:
    sentences = (sentence for intent in intents_of(_NAMES) for sentence in intent.sentences)
    said = " ".join((*sentences, *repertoire().examples["rate"]))
    return frozenset(_WORD.findall(said)) | _AROUND
