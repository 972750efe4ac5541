"""Use the window by words: open pages, change settings that are a word.

Invariant: nothing is deleted and, by voice, nothing ended without a "yes" to a question. Without a
window, no answer opens a page or names a key or button.
"""

import re

from engine.llm.base import Action
from engine.llm.skills.matching.fillings import is_name
from engine.llm.skills.matching.intent import Answer, SkillContext, Slots, sentence
from engine.messages.commands import ChangeSetting
from engine.messages.events import UseWindow
from engine.settings import SettingKey

_SWITCHED = {"on": True, "off": False}
ASKS = "Shall I"
QUESTION = f"{ASKS} quit?"
TIMERS_QUESTION = f"Timers do not ring while I am closed. {QUESTION}"
FETCH_QUESTION = f"A model is still being fetched or checked. That stops when I close. {QUESTION}"
QUIT_QUESTIONS = (QUESTION, TIMERS_QUESTION, FETCH_QUESTION)
REMOVAL = "Delete this conversation for good?"
NO_WINDOW = "That is done in the window."
_LONGEST_SUBJECT = 6  # words
# a conversation without keys depends on these
_LISTENING = (SettingKey.MUTED, SettingKey.HANDS_FREE)
_IN_WINDOW = re.compile(r"\[([^]]*)\]")


def page(context: SkillContext, command: str, value: str = "") -> tuple[Action, ...]:
    """Return the action that opens a page; nothing without a window."""
    return (UseWindow(command, value),) if context.state().has_window else ()


def fitted(text: str, context: SkillContext) -> str:
    """Return the text of a skill's file; parts in [brackets] need a window."""
    kept = r"\1" if context.state().has_window else ""
    return " ".join(_IN_WINDOW.sub(kept, text).split())


def run(slots: Slots, context: SkillContext) -> Answer:
    """Let the window carry out `command` with `page` or `value`; say `say`, if it is not empty."""
    if not context.state().has_window:
        return Answer(NO_WINDOW)
    value = slots.get("page", slots.get("value", ""))
    return Answer(slots.get("say", ""), (UseWindow(slots["command"], value),))


def change(slots: Slots, context: SkillContext) -> Answer:
    """Change the setting `key` to `value`."""
    key, value = slots["key"], slots["value"]
    of_window = key.startswith("window.") or key in _LISTENING
    if of_window and not context.state().has_window:
        return Answer(NO_WINDOW)
    return Answer(slots["say"], (ChangeSetting(key, _SWITCHED.get(value, value)),))


def ask_removal(_slots: Slots, context: SkillContext) -> Answer:
    return Answer(REMOVAL if context.state().has_window else NO_WINDOW)


def other_theme(_slots: Slots, context: SkillContext) -> Answer:
    """Switch from dark to light and back."""
    theme = "light" if context.state().settings.window.theme == "dark" else "dark"
    return change(
        {"key": SettingKey.THEME, "value": theme, "say": f"{theme.title()} it is."}, context
    )


def end(slots: Slots, context: SkillContext) -> Answer | None:
    """End the program. Ask while a timer runs or a model is fetched, and where the classifier found
    it ("indirect"). Recognisers write "quit" for "quiet": it stops the reply, and more words are
    asked about.
    """
    here = context.state()
    spoken = context.history and context.history[-1].confidence < 1
    if not here.has_window or "agreed" in slots:
        return run({"command": "quit"}, context)
    if spoken and len(sentence(context).split()) == 1:
        return None
    if any(not timer.rang for timer in here.timers):
        return Answer(TIMERS_QUESTION)
    if here.models_busy:
        return Answer(FETCH_QUESTION)
    if spoken or "indirect" in slots:
        return Answer(QUESTION)
    return run({"command": "quit"}, context)


def find(slots: Slots, context: SkillContext) -> Answer:
    """Search the saved conversations for `subject`."""
    found = {"command": "find", "value": slots["subject"], "say": "Here is what I find."}
    return run(found, context)


def is_subject(said: str) -> bool:
    """Return whether a conversation may have been about it."""
    return is_name(said, most=_LONGEST_SUBJECT)
