"""The few polite phrases of a conversation without a language model.

Invariant: every intent here is uncertain: where there is a language model, it answers.
"""

from engine.llm.skills.matching.intent import Answer, SkillContext, Slots
from engine.llm.skills.window import fitted

_PRONOUNS = frozenset(("it", "that", "this", "me", "him", "her", "them", "us"))


def greeting(_slots: Slots, context: SkillContext) -> Slots:
    hour = context.now().hour
    if 5 <= hour < 12:
        return {"greeting": "Good morning"}
    return {"greeting": "Good evening" if hour >= 18 else "Hello"}


def decline(slots: Slots, context: SkillContext) -> Answer | None:
    """Decline a task that needs another program; "call it pasta" is meant for this one."""
    if slots.get("thing", "").split(" ")[0] in _PRONOUNS:
        return None
    return Answer(fitted(slots["say"], context))
