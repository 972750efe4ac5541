"""Repeat the user's words, and the last answer. Do not answer sounds that are not words: "hmm",
"uh-huh".

Invariant: the words come back exactly as they were typed or heard; nothing is added. After a
question, a sound that may mean yes or no is left to a language model.
"""

import re
from dataclasses import replace

from engine.llm.base import ChangeRate, Role, StopSpeaking
from engine.llm.skills.control.pace import STEP
from engine.llm.skills.exact_words import exact_words
from engine.llm.skills.matching.intent import Answer, SkillContext, Slots, last_answer, sentence

_WORD = re.compile(r"[a-z]+")
NOTHING_SAID = "I haven't said anything yet."
LONGEST_HUM = 40  # characters of an utterance of such sounds

_BETWEEN = re.compile(r"[\s,.!?\u2026\u2014-]+")
_SOUND = re.compile(r"h*m+(?:h+m+)?|u+[hm]+|uhm+|erm*|uhuh")
_ECHO = re.compile(r"h+u+[hm]+")  # only after another sound: "huh?" is a question
_YES_OR_NO = re.compile(r"\b(?:m+(?:h+m+)?|uhuh|u+[hm]+ (?:u+h+|h+u+[hm]+|h+m+))\b")


def repeat(slots: Slots, context: SkillContext) -> Answer | None:
    """Repeat the words of a request if the request is certain."""
    found = exact_words(sentence(context) or slots["request"])
    return Answer(found.text) if found and found.sure else None


def perhaps_repeat(slots: Slots, context: SkillContext) -> Answer | None:
    """Repeat the words, even if a language model might understand the request better."""
    found = exact_words(sentence(context) or slots["request"])
    return Answer(found.text) if found else None


def say_again(_slots: Slots, context: SkillContext) -> Answer:
    """Repeat the heard part of the assistant's last answer."""
    for message in reversed(context.history):
        if message.role is Role.ASSISTANT and message.text.strip():
            return Answer(message.text, private=message.private)
    return Answer(NOTHING_SAID)


def say_missed(slots: Slots, context: SkillContext) -> Answer | None:
    """Repeat it slower, for "huh?"; not for "uh-huh"."""
    hums = _is_hum(" ".join(_WORD.findall(sentence(context).lower())))
    return None if hums else say_again_at_pace({**slots, "way": "slower"}, context)


def say_again_at_pace(slots: Slots, context: SkillContext) -> Answer:
    """Repeat it at another pace; `way`: "slower" or "faster"."""
    again = say_again(slots, context)
    if again.text == NOTHING_SAID:
        return again
    return replace(again, actions=(ChangeRate(by=STEP if slots["way"] == "faster" else -STEP),))


def stay_silent(slots: Slots, context: SkillContext) -> Answer | None:
    said = (sentence(context) or slots["sound"]).strip().lower()
    sounds = _BETWEEN.sub(" ", said[: LONGEST_HUM + 1]).strip()
    if len(said) > LONGEST_HUM or not _is_hum(sounds):
        return None
    asked = last_answer(context).rstrip().endswith("?") and "question" not in slots
    return None if asked and _YES_OR_NO.search(sounds) else Answer(actions=(StopSpeaking(),))


def _is_hum(sounds: str) -> bool:
    """Return whether these lower-case words are only such sounds."""
    first, *rest = sounds.split(" ")
    echoes = all(_SOUND.fullmatch(each) or _ECHO.fullmatch(each) for each in rest)
    return bool(_SOUND.fullmatch(first)) and echoes
