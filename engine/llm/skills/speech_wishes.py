"""Requests about the pace or the loudness alone ("slower, please"), which are carried out during a
reply and get no reply of their own.

Invariant: every such request is an intent of the skills, so it means the same during a reply and
between two.
"""

import re
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Final

from engine.llm.base import AssistantState, ChangeRate, ChangeVolume
from engine.llm.skills.languages.commands import in_english
from engine.llm.skills.matching.canonical import canonical
from engine.llm.skills.matching.fillings import word_set
from engine.llm.skills.matching.intent import Intent, SkillContext
from engine.llm.skills.matching.repertoire import Templates, repertoire
from engine.settings import SettingKey, Settings, change

_NAMES: Final = frozenset(
    f"{much}{way}" for way in ("slower", "faster") for much in ("", "a bit ", "much ")
) | {
    *("fastest", "slowest", "set rate", "own pace", "twice as fast", "half as fast"),
    *("louder", "quieter", "set volume", "set volume level", "least volume", "full volume"),
}
_MOST_CHARS: Final = 80  # a longer sentence asks for something else as well
_ANY_RATE: Final = change(Settings(), SettingKey.FAST, value=True)  # the engine sets the limit
_WORD: Final = re.compile(r"[a-z]+")
_AROUND: Final = word_set("around_wish")
_ABOUT: Final = word_set("about_wish")


def speech_wish(said: str) -> ChangeRate | ChangeVolume | None:
    """Return the requested change; None if the text says something else, or more than that."""
    if len(said) > _MOST_CHARS:
        return None
    nowhere = AssistantState(  # not at a limit
        rate=None, volume=0.5, voice="", voices=(), settings=_ANY_RATE
    )
    context = SkillContext(datetime.now, lambda: nowhere, Path())
    for intent, slots in _templates().matches(canonical(in_english(said))):
        answer = intent.respond(slots, context)
        for action in answer.actions if answer else ():
            if isinstance(action, ChangeRate | ChangeVolume):
                return action
    return None


def may_become_speech_wish(said: str) -> bool:
    """Return whether the first words of an unfinished sentence may become such a request. The
    last word may be incomplete: "slow down we" can become "slow down please".
    """
    words = _WORD.findall(said.lower().replace("'", ""))
    whole = words[:-1] or words
    return not _ABOUT.isdisjoint(words) and _vocabulary().issuperset(whole)


def _intents() -> list[Intent]:
    return [each for each in repertoire().intents if each.name in _NAMES]


@cache
def _templates() -> Templates[Intent]:
    return repertoire().templates(_intents())


@cache
def _vocabulary() -> frozenset[str]:
    sentences = (sentence for intent in _intents() for sentence in intent.sentences)
    said = " ".join((*sentences, *repertoire().examples["rate"]))
    return frozenset(_WORD.findall(said)) | _AROUND
