"""The built-in skills as a language model that answers at once and needs no download.

Invariant: besides the context, the skills use only the contents of this object: the matcher, the
clock and the documents folder.
"""

import re
from collections.abc import Callable, Generator, Iterator, Sequence
from datetime import datetime
from pathlib import Path

from engine.languages import ENGLISH, SPOKEN
from engine.llm.base import (
    Delta,
    Deltas,
    GetState,
    LanguageModelInfo,
    Message,
    Role,
    TextDelta,
    Unanswered,
    last_language,
)
from engine.llm.skills import abilities, units
from engine.llm.skills.languages import answers, commands
from engine.llm.skills.matching.intent import Answer, SkillContext
from engine.llm.skills.matching.matcher import matcher
from engine.llm.skills.reading import WHILE_READING
from engine.settings import LanguageModelSettings

DELTA_CHARS = 200  # a text read aloud is passed on in pieces, so that it can be stopped

_NOT_UNDERSTOOD = Answer("I didn't catch that.")


class Skills:
    """A LanguageModel of rules. `now`: the user's wall clock; `documents`: files to read aloud."""

    def __init__(self, *, now: Callable[[], datetime], documents: Path) -> None:
        self._now = now
        self._documents = documents
        self._matcher = matcher()

    @property
    def info(self) -> LanguageModelInfo:
        return LanguageModelInfo("skills", "built-in skills, no language model")

    def reply(self, history: Sequence[Message], state: GetState) -> Deltas:
        context = self.context(history, state)
        said = last_said(history)
        if not re.search(r"\w", said):
            yield from deltas(_NOT_UNDERSTOOD)
            return
        if last_language(history) == ENGLISH:
            answer = self._matcher.answer(said, context, certain_only=False)
            yield from deltas(answer or abilities.unknown(context))
        else:
            answer = answers.answer(context, self._matcher, certain_only=False)
            yield from deltas(answer or answers.unknown(context))

    def certain_answer(self, history: Sequence[Message], state: GetState) -> Answer | None:
        """Return the answer of a skill that is certainly meant; None = ask the model."""
        context = self.context(history, state)
        if last_language(history) != ENGLISH:
            return answers.answer(context, self._matcher, certain_only=True)
        return self._matcher.answer(last_said(history), context, certain_only=True)

    def context(self, history: Sequence[Message], state: GetState) -> SkillContext:
        return SkillContext(self._now, state, self._documents, history)

    def warm(self, history: Sequence[Message]) -> Generator[None, None, None]:
        """Parse templates (0.1 s) and commands (0.3 s), and read the table of units (0.3 s)."""
        self._matcher.prepare()
        yield
        for language in SPOKEN:
            commands.command("", language)
            yield
        units.prepare()
        yield

    def adjust(self, settings: LanguageModelSettings) -> None:
        """Do nothing: rules have neither a system prompt nor a temperature."""

    def close(self) -> None:
        """Do nothing: there is nothing to close."""


def understands(text: str) -> bool:
    """Return whether any skill answers this text, in any state."""
    context = SkillContext(datetime.now, lambda: WHILE_READING, Path("nowhere"))
    return matcher().answer(text, context, certain_only=False) is not None


def deltas(answer: Answer) -> Iterator[Delta]:
    """Yield actions first, so that a sentence about a change is already spoken in the new way."""
    yield from answer.actions
    if answer.unanswered:
        yield Unanswered()
    for start in range(0, len(answer.text), DELTA_CHARS):
        yield TextDelta(answer.text[start : start + DELTA_CHARS], answer.private)


def last_said(history: Sequence[Message]) -> str:
    """Return the user's last message; empty when there is none."""
    return next((message.text for message in reversed(history) if message.role is Role.USER), "")
