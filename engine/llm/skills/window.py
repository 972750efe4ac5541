"""What a person can do in the window, by words: open pages, change settings that are a word.

Invariant: nothing is deleted and, by voice, nothing ended without a "yes" to a question.
"""

from engine.llm.skills.matching.fillings import is_name
from engine.llm.skills.matching.intent import Answer, Occasion, Slots, sentence
from engine.messages.commands import ChangeSetting
from engine.messages.events import UseWindow

_SWITCHED = {"on": True, "off": False}
QUESTION = "Shall I quit?"
REMOVAL = "Delete this conversation for good?"
NO_WINDOW = "That is done in the window."
_LONGEST_SUBJECT = 6  # words


def run(slots: Slots, occasion: Occasion) -> Answer:
    """Have the window carry out `command` with `page` or `value`; say `say`, if there is something
    to say.
    """
    if not occasion.situation().has_window:
        return Answer(NO_WINDOW)
    value = slots.get("page", slots.get("value", ""))
    return Answer(slots.get("say", ""), (UseWindow(slots["command"], value),))


def change(slots: Slots, occasion: Occasion) -> Answer:
    """Change the setting `key` to `value`."""
    if slots["key"].startswith("window.") and not occasion.situation().has_window:
        return Answer(NO_WINDOW)
    value = slots["value"]
    return Answer(slots["say"], (ChangeSetting(slots["key"], _SWITCHED.get(value, value)),))


def ask_removal(_slots: Slots, occasion: Occasion) -> Answer:
    return Answer(REMOVAL if occasion.situation().has_window else NO_WINDOW)


def other_theme(_slots: Slots, occasion: Occasion) -> Answer:
    """From dark to light and back."""
    theme = "light" if occasion.situation().settings.window.theme == "dark" else "dark"
    return change(
        {"key": "window.theme", "value": theme, "say": f"{theme.title()} it is."}, occasion
    )


def end(_slots: Slots, occasion: Occasion) -> Answer | None:
    """End the program. Recognisers write "quit" for "quiet": after speech that word alone stops
    the reply, and more words are asked about.
    """
    spoken = occasion.history and occasion.history[-1].confidence < 1
    if spoken and occasion.situation().has_window:
        return Answer(QUESTION) if len(sentence(occasion).split()) > 1 else None
    return run({"command": "quit"}, occasion)


def find(slots: Slots, occasion: Occasion) -> Answer:
    """Look for what was said about `subject` in the conversations that were kept."""
    found = {"command": "find", "value": slots["subject"], "say": "Here is what I find."}
    return run(found, occasion)


def is_subject(said: str) -> bool:
    """Whether a conversation may have been about it."""
    return is_name(said, most=_LONGEST_SUBJECT)
