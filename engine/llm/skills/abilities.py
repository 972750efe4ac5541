"""Answers about the assistant's abilities and parts, and an honest answer to everything else.

They are not tools: a model would only read the list aloud, and the skills recognise these questions
with certainty anyway.

Invariant: every example sentence spoken here is understood by a skill (a test tries each of them).
"""

from engine.llm.base import Role
from engine.llm.skills.matching.intent import Answer, SkillContext, Slots
from engine.llm.skills.offers import needed, was_offered
from engine.llm.skills.window import NO_WINDOW, fitted, page

EXAMPLES = (
    "what time is it",
    "convert ten miles to kilometres",
    "set a timer for five minutes",
    "what is fifteen percent of eighty",
    "spell necessary",
    "speak slower",
    "how many days until Christmas",
    "repeat after me, hello world",
    "what can you do",
)

# Of a hundred sentences heard with less confidence, by either recogniser, some seventy were wrong.
MISHEARD = 0.5
# After the offer was made; {examples} are questions that a skill answers.
_AGAIN = (
    "That needs the language model as well. Say: fetch it, or try: {examples}.",
    "I know too little for that. What I know: {examples}.",
    "No answer to that, without the language model. Try: {examples}.",
    "That is beyond me so far. Ask me, for example: {examples}.",
)


def tell_parts(_slots: Slots, context: SkillContext) -> Answer:
    """List the loaded parts; everything is on this computer unless a part says otherwise."""
    parts = context.state().capabilities
    if not parts:
        return Answer("I can't tell what I'm running on at the moment.")
    listed = ". ".join(f"{part[:1].upper()}{part[1:]}: {runs}" for part, runs in parts.items())
    return Answer(f"{listed}.")


def unknown(context: SkillContext) -> Answer:
    """Answer when no skill understands: offer a language model once in a conversation, then give
    examples, in other words each time.
    """
    asked = sum(message.role is Role.USER for message in context.history)
    if context.history and context.history[-1].confidence < MISHEARD:
        return Answer("I'm not sure I heard that right. Can you say it again?")
    if not was_offered(context):
        return Answer(needed(context), unanswered=True)
    first = EXAMPLES[asked % len(EXAMPLES)]
    second = EXAMPLES[(asked + len(EXAMPLES) // 2) % len(EXAMPLES)]
    text = _AGAIN[asked % len(_AGAIN)].format(examples=f"{first}, or: {second}")
    return Answer(text, unanswered=True)


def explain(slots: Slots, context: SkillContext) -> Answer:
    """Return the text of a `topic` (see `fitted`), with the page opened that stands before it
    ("models > Open …", "settings/window > Text …").
    """
    opened, _, topic = slots["topic"].rpartition(" > ")
    command, _, value = opened.partition("/")
    text = fitted(topic, context) or NO_WINDOW
    return Answer(text, page(context, command, value) if opened else ())
