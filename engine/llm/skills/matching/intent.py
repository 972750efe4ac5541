"""What a skill consists of: intents it understands, tools it offers to a model, answers it gives.

Invariant: a skill sees the world only through its SkillContext; it reads no clock and keeps no
state, so the same words in the same context get the same answer.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from random import randint
from typing import Final

from engine.llm.base import Action, AssistantState, Message, Role

Slots = Mapping[str, str]
PRECEDENCE: Final = 50  # of a skill that names none: after those for a purpose, before small talk


@dataclass(frozen=True)
class Answer:
    """What to say, as written (digits and symbols are allowed), and what to do. Actions are yielded
    first, then the text. Nothing is said for an empty text. A `private` text, from a file, stays on
    this computer. `unanswered`: a language model would have known more.
    """

    text: str = ""
    actions: tuple[Action, ...] = ()
    private: bool = False
    unanswered: bool = False


@dataclass(frozen=True)
class SkillContext:
    """The world as a skill may see it. `state` is called only when a skill needs it; `history` ends
    with the user's message that is answered.
    """

    now: Callable[[], datetime]
    state: Callable[[], AssistantState]
    documents: Path
    history: Sequence[Message] = ()
    draw: Callable[[int, int], int] = randint  # a whole number in a range, both ends included


def sentence(context: SkillContext) -> str:
    """Return the user's sentence in its original form; empty if there is none."""
    return context.history[-1].text if context.history else ""


def last_answer(context: SkillContext) -> str:
    """The part of the assistant's last answer that was heard; empty when it was silent."""
    before = context.history[:-1]
    return before[-1].text if before and before[-1].role is Role.ASSISTANT else ""


class NotMeant(Exception):
    """A sentence only looked right and means something else: its slots hold no such values."""


Responder = Callable[[Slots, SkillContext], Answer | None]
# Slots of the previous sentence and of this one, as one; None where they do not go together.
Combine = Callable[[Slots, Slots, SkillContext], Slots | None]


@dataclass(frozen=True)
class Intent:
    """Sentences with the same meaning, in hassil's template syntax, and the function that answers
    them. It gets the filled slots, and returns None (a function that a file names may raise
    NotMeant instead) when the sentence only looked right; then the next intent is tried.

    `verbatim` intents are matched against what was typed or heard, all others against its canonical
    form (see canonical.py). An intent that is not `certain` is left to the language model if there
    is one. An `aside` may be said between a question and its follow-up.
    """

    name: str
    sentences: tuple[str, ...]
    respond: Responder
    verbatim: bool = False
    certain: bool = True
    aside: bool = False


def joined(before: Slots, now: Slots, _context: SkillContext) -> Slots | None:
    """The slots of the previous sentence, replaced where this one names new values."""
    return {**before, **now}


@dataclass(frozen=True)
class FollowUp:
    """Words that mean something only after another sentence ("and in miles?"), an intent `after`.
    They ask the intent named `asks` ("" = the previous one) with the slots that `combine` returns;
    None when they only looked like a follow-up. The previous answer must begin with `answered`
    ("Which").
    """

    after: tuple[str, ...]
    sentences: tuple[str, ...]
    asks: str = ""
    combine: Combine = joined
    answered: str = ""
    verbatim: bool = False


@dataclass(frozen=True)
class Tool:
    """The same skill as a function that a language model may call. `parameters` maps each argument
    to its description; all arguments are text, those in `optional` may be missing; `verbatim` ones
    are passed on as the model wrote them, all others in canonical form.
    """

    name: str
    description: str
    respond: Responder
    parameters: Mapping[str, str] = field(default_factory=dict)
    optional: tuple[str, ...] = ()
    verbatim: bool = False


@dataclass(frozen=True)
class Skill:
    """One skill file's contribution; `name` is its path, "timers/alarms". Skills with a lower
    `precedence` are asked first. `lists` maps a slot list to (spoken or typed form, value) pairs;
    `examples` maps a slot that takes any words to examples of them, which teach the recogniser.
    `fits` decides, for slots that no parser reads, whether the words are what the slot is for.
    """

    name: str
    precedence: int = PRECEDENCE
    intents: tuple[Intent, ...] = ()
    follow_ups: tuple[FollowUp, ...] = ()
    tools: tuple[Tool, ...] = ()
    expansion_rules: Mapping[str, str] = field(default_factory=dict)
    lists: Mapping[str, tuple[tuple[str, str], ...]] = field(default_factory=dict)
    examples: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    fits: Mapping[str, Callable[[str], bool]] = field(default_factory=dict)
