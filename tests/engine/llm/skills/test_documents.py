"""Requests about the document that is read aloud."""

from datetime import datetime
from pathlib import Path

import pytest

from engine.llm.base import AssistantState, Message, Role
from engine.llm.skills.matching.intent import SkillContext
from engine.llm.skills.matching.matcher import matcher
from engine.llm.skills.reading import reading_wish
from engine.messages.reading import PauseReading, Place, ReadAloud, SkipReading, Unit

BACK, ON = -1, 1
NOW = datetime(2026, 1, 5)


@pytest.mark.parametrize(
    ("said", "wish"),
    [
        ("next chapter", SkipReading(Unit.CHAPTER, ON)),
        ("Go to the next chapter, please.", SkipReading(Unit.CHAPTER, ON)),
        ("can you skip this paragraph", SkipReading(Unit.PARAGRAPH, ON)),
        ("skip two sentences", SkipReading(Unit.SENTENCE, 2)),
        ("go back three paragraphs", SkipReading(Unit.PARAGRAPH, -3)),
        ("two paragraphs back", SkipReading(Unit.PARAGRAPH, -2)),
        ("go back a sentence", SkipReading(Unit.SENTENCE, BACK)),
        ("previous paragraph", SkipReading(Unit.PARAGRAPH, BACK)),
        ("read that sentence again", SkipReading(Unit.SENTENCE, BACK)),
        ("repeat this paragraph", SkipReading(Unit.PARAGRAPH, BACK)),
        ("go on reading", ReadAloud()),
        ("continue with the book", ReadAloud()),
        ("read on", ReadAloud()),
        ("start from the beginning", None),
        ("read the book from the beginning", ReadAloud(Place())),
        ("stop reading", PauseReading()),
        ("pause the book", PauseReading()),
        ("siguiente capítulo", SkipReading(Unit.CHAPTER, ON)),
        ("répète cette phrase", SkipReading(Unit.SENTENCE, BACK)),
        ("smetti di leggere", PauseReading()),
        ("continua lendo", ReadAloud()),
        ("what is in the next chapter", None),
        ("who wrote the book", None),
        ("read the book of Job to me and tell me what you think of it", None),
    ],
)
def test_a_request_about_the_reading(said, wish):
    assert reading_wish(said, bare=False) == wish


@pytest.mark.parametrize(
    ("said", "by"),
    [("back", BACK), ("go back a bit", BACK), ("again", BACK), ("next", ON), ("skip that", ON)],
)
def test_words_that_do_not_name_the_reading_mean_it_only_right_after_it(said, by):
    assert reading_wish(said, bare=False) is None
    assert reading_wish(said) == SkipReading(Unit.SENTENCE, by)


@pytest.mark.parametrize("said", ["next chapter", "back", "stop reading", "continue reading"])
def test_without_a_document_none_of_this_is_meant(said):
    state = AssistantState(rate=None, volume=1.0, voice="", voices=())
    history = (Message(Role.USER, said),)
    context = SkillContext(lambda: NOW, lambda: state, Path(), history)
    answer = matcher().answer(said, context, certain_only=True)
    assert answer is None or not any(
        isinstance(each, SkipReading | PauseReading | ReadAloud) for each in answer.actions
    )
