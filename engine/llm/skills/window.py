"""What a person can do in the window, by words: open pages, change settings that are a word.

Invariant: nothing is deleted and, by voice, nothing ended without a "yes" to a question.
"""

from engine.llm.skills.matching.fillings import is_name
from engine.llm.skills.matching.intent import Answer, Occasion, Slots, sentence
from engine.messages.commands import ChangeSetting
from engine.messages.events import UseWindow

_SWITCHED = {"on": True, "off": False}
QUESTION = "Shall I quit?"
_LONGEST_SUBJECT = 6  # words


def run(slots: Slots, _occasion: Occasion) -> Answer:
    """Have the window carry out `command`; say `say`, if there is something to say."""
    action = UseWindow(slots["command"], slots.get("value", ""))
    return Answer(slots.get("say", ""), (action,))


def open_page(slots: Slots, occasion: Occasion) -> Answer:
    """The same for a page; `page` is a page of the settings."""
    return run({**slots, "value": slots.get("page", slots.get("value", ""))}, occasion)


def change(slots: Slots, _occasion: Occasion) -> Answer:
    """Change the setting `key` to `value`."""
    value = slots["value"]
    return Answer(slots["say"], (ChangeSetting(slots["key"], _SWITCHED.get(value, value)),))


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
    if occasion.history and occasion.history[-1].confidence < 1:
        return Answer(QUESTION) if len(sentence(occasion).split()) > 1 else None
    return Answer(actions=(UseWindow("quit"),))


def find(slots: Slots, _occasion: Occasion) -> Answer:
    """Look for what was said about `subject` in the conversations that were kept."""
    return Answer("Here is what I find.", (UseWindow("find", slots["subject"]),))


def is_subject(said: str) -> bool:
    """Whether a conversation may have been about it."""
    return is_name(said, most=_LONGEST_SUBJECT)
