"""Commands in the languages other than English, without a language model: a table each, in
resources/commands. A command there means an English sentence, which a skill carries out.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Final

from num2words import num2words

from engine.languages import ENGLISH, SPOKEN
from engine.llm.base import StartTimer
from engine.llm.skills.matching.intent import Answer, SkillContext
from engine.llm.skills.matching.matcher import Matcher
from engine.resources import table

_HIGHEST: Final = 60  # number that is understood in words
_MISHEARD: Final = 0.5  # confidence; see abilities.py
_NO_SIGNS: Final = re.compile(r"[^\w\s'-]")


@dataclass(frozen=True)
class Command:
    """`means`: an English sentence; `said`: what is said after it, "" = what the skill says."""

    means: str
    said: str
    at_one: str  # said instead of `said` at one o'clock


def command(text: str, language: str) -> Command | None:
    """Return the command that is the whole text; None if it is none."""
    if language == ENGLISH:
        return None
    words = " ".join(_NO_SIGNS.sub(" ", text.casefold().replace("\u2019", "'")).split())
    words = re.sub(r"\b(un|d)'(?=un|\w+$)", r"\1' ", words)  # "un'ora", "d'une heure"
    courtesy = table("commands", f"{language}.toml")["courtesy"]
    words = re.sub(rf"^(?:(?:{courtesy}) )+|(?: (?:{courtesy}))+$", "", words)
    for pattern, found in _commands(language):
        if match := pattern.fullmatch(words):
            return _filled(found, match, language)
    return None


def in_english(text: str) -> str:
    """Return the English sentence that a command means in any language; else the text."""
    commands = (command(text, language) for language in SPOKEN)
    return next((each.means for each in commands if each), text)


def answer(context: SkillContext, matcher: Matcher) -> Answer | None:
    """Carry out a command in another language than English; None if the last words are none."""
    asked = context.history[-1]
    found = command(asked.text, asked.language)
    if found is None:
        return None
    english = replace(asked, text=found.means, language=ENGLISH)
    context = replace(context, history=(*context.history[:-1], english))
    done = matcher.answer(found.means, context, certain_only=False)
    if done is None:
        return None
    texts = table("commands", f"{asked.language}.toml")
    text = _told(found, context) or texts["no_timer"] if found.said else done.text
    if "timer" in found.means and not done.actions:
        one = "cancel" in found.means
        text = texts["bad_time" if not one else "which" if context.state().timers else "no_timer"]
    actions = tuple(
        replace(each, text=texts["timer_done"]) if isinstance(each, StartTimer) else each
        for each in done.actions
    )
    return replace(done, text=text, actions=actions)


def unknown(context: SkillContext) -> Answer:
    """Answer a question that only a language model could answer, in the question's language."""
    asked = context.history[-1]
    texts = table("commands", f"{asked.language}.toml")
    if asked.confidence < _MISHEARD:
        return Answer(texts["unheard"])
    return Answer(texts["unanswered"], unanswered=True)


def _told(found: Command, context: SkillContext) -> str:
    """Return the answer with the time of day or the time that the first timer has left; empty
    without a timer.
    """
    said = found.said
    if "{left}" not in said:
        now = context.now()
        said = found.at_one if now.hour == 1 else said
        return said.replace("{time}", f"{now.hour}:{now.minute:02}")
    timers = (each.remaining_s for each in context.state().timers if not each.rang)
    left = min(timers, default=None)
    if left is None:
        return ""
    minutes, seconds = divmod(round(left), 60)
    return said.replace("{left}", f"{minutes} min {seconds} s" if minutes else f"{seconds} s")


def _filled(found: Command, match: re.Match[str], language: str) -> Command:
    if "{n}" not in found.means:
        return found
    number = match["n"] if match["n"].isdecimal() else str(_numbers(language)[match["n"]])
    unit: str = table("commands", f"{language}.toml")["units"][match["unit"]]
    means = found.means.replace("{n}", number).replace("{unit}", unit)
    said = found.said.replace("{n}", number).replace("{said_unit}", match["unit"])
    return Command(means, said, said)


@cache
def _commands(language: str) -> tuple[tuple[re.Pattern[str], Command], ...]:
    """Patterns and their commands, whose numbers are not filled in yet."""
    return tuple(_compiled(table("commands", f"{language}.toml"), language))


def _compiled(texts: dict[str, Any], language: str) -> Iterator[tuple[re.Pattern[str], Command]]:
    numbers = "|".join(sorted(_numbers(language), key=len, reverse=True))
    units = "|".join(texts["units"])
    for each in texts["commands"]:
        command = Command(each["means"], each["answer"], each.get("at_one", each["answer"]))
        for said in each["said"]:
            pattern = said.replace("{n}", rf"(?P<n>\d{{1,4}}|{numbers})")
            pattern = pattern.replace("{unit}", f"(?P<unit>{units})")
            yield re.compile(pattern), command


@cache
def _numbers(language: str) -> dict[str, int]:
    """Numbers in words, also the feminine one: "una hora"."""
    code = table("commands", f"{language}.toml")["numbers"]
    numbers = {num2words(n, lang=code): n for n in range(1, _HIGHEST + 1)}
    return numbers | dict.fromkeys(("un", "una", "um", "uma", "une", "un'"), 1)
