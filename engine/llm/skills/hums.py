"""Sounds that are not words: "hmm", "mm-hm", "uh-huh". They are not answered.

Invariant: after a question, a sound that may mean yes or no is left to a language model.
"""

import re

from engine.llm.base import StopSpeaking
from engine.llm.skills.matching.intent import Answer, SkillContext, Slots, last_answer, sentence

LONGEST = 40  # characters of an utterance of such sounds

_BETWEEN = re.compile(r"[\s,.!?\u2026\u2014-]+")
_SOUND = re.compile(r"h*m+(?:h+m+)?|u+[hm]+|uhm+|erm*|uhuh")
_ECHO = re.compile(r"h+u+[hm]+")  # only after another sound: "huh?" is a question
_YES_OR_NO = re.compile(r"\b(?:m+(?:h+m+)?|uhuh|u+[hm]+ (?:u+h+|h+u+[hm]+|h+m+))\b")


def stay_silent(slots: Slots, context: SkillContext) -> Answer | None:
    said = (sentence(context) or slots["sound"]).strip().lower()
    sounds = _BETWEEN.sub(" ", said[: LONGEST + 1]).strip()
    if len(said) > LONGEST or not is_hum(sounds):
        return None
    asked = last_answer(context).rstrip().endswith("?") and "question" not in slots
    return None if asked and _YES_OR_NO.search(sounds) else Answer(actions=(StopSpeaking(),))


def is_hum(sounds: str) -> bool:
    """Return whether these lower-case words are only such sounds."""
    first, *rest = sounds.split(" ")
    echoes = all(_SOUND.fullmatch(each) or _ECHO.fullmatch(each) for each in rest)
    return bool(_SOUND.fullmatch(first)) and echoes
