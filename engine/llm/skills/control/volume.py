"""The loudness of the assistant's speech, changed by voice, and silence.

Invariant: a change is an action for the runtime; its sentence is short, because it is already
spoken in the new way.
"""

import re

from engine.llm.base import ChangeVolume, StopSpeaking
from engine.llm.skills.control.pace import NEARLY
from engine.llm.skills.matching.intent import Answer, SkillContext, Slots, sentence
from engine.llm.skills.matching.quantities import figure, number
from engine.messages.commands import ChangeSetting
from engine.settings import SettingKey

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
    """Set the volume: "half"; a bare number up to ten, in tenths, as on most assistants; a larger
    one, in percent.
    """
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
