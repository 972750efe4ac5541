"""Questions about the program itself whose answers depend on its settings."""

from dataclasses import replace

from engine.llm.base import AssistantState
from engine.llm.servers.address import asks_another_computer
from engine.llm.skills import abilities
from engine.llm.skills.matching.intent import Answer, SkillContext, Slots
from engine.llm.skills.matching.quantities import figure
from engine.llm.skills.offers import needed
from engine.llm.skills.window import page

explain = abilities.explain

_KEPT = {"forever": "kept", "30 days": "kept for 30 days"}


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
