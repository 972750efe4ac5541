"""Answers about the assistant itself, its small talk, and an honest answer to everything else.

They are not tools: a model would only read the texts aloud, and the skills recognise these
questions with certainty anyway.

Invariant: every example sentence spoken here is understood by a skill (a test tries each of them).
"""

from dataclasses import replace

from engine.llm.base import AssistantState, Role
from engine.llm.servers.address import asks_another_computer
from engine.llm.skills.matching.intent import Answer, SkillContext, Slots
from engine.llm.skills.matching.quantities import figure
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

_KEPT = {"forever": "kept", "30 days": "kept for 30 days"}
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


def tell_parts(_slots: Slots, context: SkillContext) -> Answer:
    """List the loaded parts; everything is on this computer unless a part says otherwise."""
    parts = context.state().capabilities
    if not parts:
        return Answer("I can't tell what I'm running on at the moment.")
    listed = ". ".join(f"{part[:1].upper()}{part[1:]}: {runs}" for part, runs in parts.items())
    return Answer(f"{listed}.")


def unknown(context: SkillContext) -> Answer:
    """Offer a language model once in a conversation, then give examples in varying words."""
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


def tell_privacy(_slots: Slots, context: SkillContext) -> Answer:
    """Say where words go: to another computer only with a language model on one."""
    settings = context.state().settings
    if asks_another_computer(settings.language_model):
        where = (
            "Your language model is on another computer, which gets the text of what you say. All"
            " else stays here."
        )
    else:
        where = "What you say stays on this computer, and I work without the internet."
    kept = _KEPT.get(settings.history.keep, "not kept")
    return Answer(f"{where} Conversations are {kept}.", page(context, "settings", "window"))


def tell_settings(_slots: Slots, context: SkillContext) -> Answer:
    """List the settings that the user hears or sees."""
    here = context.state()
    settings = here.settings
    pace = (
        "at my own pace"
        if here.rate is None
        else f"at {figure(round(here.rate, 1))} syllables per second"
    )
    voice = f"I speak as {here.voice}" if here.voice else "I speak"
    said = (
        f"{voice}, {pace}, at {round(100 * here.volume)} percent volume.",
        _listening(here),
        f"Conversations are {_KEPT.get(settings.history.keep, 'not kept')}.",
    )
    return Answer(" ".join(said), page(context, "settings"))


def tell_listening(_slots: Slots, context: SkillContext) -> Answer:
    """Say whether the microphone is open, and how to talk."""
    return Answer(_listening(context.state()))


def explain_model(_slots: Slots, context: SkillContext) -> Answer:
    """Explain the use of a language model, and offer to fetch one."""
    return Answer(
        f"With a language model I answer any question, on this computer. {needed(context)}"
    )


def explain_learning(slots: Slots, context: SkillContext) -> Answer:
    """Explain how a recording becomes a voice, and which model that needs if it does not speak."""
    answer, here = explain(slots, context), context.state()
    megabytes = here.learner_mb()
    if megabytes is None:
        return answer
    size = f", {megabytes} MB" if megabytes else ""
    button = f", which the button below the recording {'fetches' if megabytes else 'chooses'}"
    needed = f"It needs Kokoro{size}{button if here.has_window else ''}."
    return replace(answer, text=f"{answer.text} {needed}")


def _listening(here: AssistantState) -> str:
    settings = here.settings
    if settings.audio.muted:
        opening = " Ctrl+U opens it, or type: start listening." if here.has_window else ""
        return f"The microphone is closed.{opening}"
    if not here.has_window:
        return "I'm listening: just speak."
    if settings.audio.hands_free:
        return "I'm listening: just speak, or type."
    return (
        f"I listen while you hold the talk key, {settings.window.talk_key}. Or say: hands-free on."
    )
