"""Requests about the pace or the loudness alone ("slower, please"), which are carried out during a
reply and get no reply of their own.

Invariant: every such request is an intent of the skills, so it means the same during a reply and
between two.
"""

import re
from functools import cache
from typing import Final

from engine.llm.base import AssistantState, ChangeRate, ChangeVolume
from engine.llm.skills.matching.fillings import word_set
from engine.llm.skills.matching.repertoire import intents_of, repertoire, wished
from engine.settings import SettingKey, Settings, change

_NAMES: Final = frozenset(
    f"{much}{way}" for way in ("slower", "faster") for much in ("", "a bit ", "much ")
) | {
    *("fastest", "slowest", "set rate", "own pace", "twice as fast", "half as fast"),
    *("louder", "quieter", "set volume", "set volume level", "least volume", "full volume"),
}
_NOT_AT_A_LIMIT: Final = AssistantState(  # the engine sets it
    rate=None,
    volume=0.5,
    voice="",
    voices=(),
    settings=change(Settings(), SettingKey.FAST, value=True),
)
_WORD: Final = re.compile(r"[a-z]+")
_AROUND: Final = word_set("around_wish")
_ABOUT: Final = word_set("about_wish")


def speech_wish(said: str) -> ChangeRate | ChangeVolume | None:
    """Return the requested change; None if the text says something else, or more than that."""
    asked = wished(said, _NAMES, _NOT_AT_A_LIMIT)
    return next((each for each in asked if isinstance(each, ChangeRate | ChangeVolume)), None)


def may_become_speech_wish(said: str) -> bool:
    """Return whether the first words of an unfinished sentence may become such a request. The
    last word may be incomplete: "slow down we" can become "slow down please".
    """
    words = _WORD.findall(said.lower().replace("'", ""))
    whole = words[:-1] or words
    return not _ABOUT.isdisjoint(words) and _vocabulary().issuperset(whole)


@cache
def _vocabulary() -> frozenset[str]:
    sentences = (sentence for intent in intents_of(_NAMES) for sentence in intent.sentences)
    said = " ".join((*sentences, *repertoire().examples["rate"]))
    return frozenset(_WORD.findall(said)) | _AROUND
