"""Utterances and their answers: tables, draws, a name, wishes, words to say, reading aloud."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest

from engine.llm import base as llm
from engine.llm.base import AssistantState, Message, Role
from engine.llm.skills.control import BIT, LOT, STEP, may_become_speech_wish, speech_wish
from engine.llm.skills.matching.intent import Answer, SkillContext
from engine.llm.skills.matching.matcher import matcher
from engine.llm.skills.reading import reading_wish
from engine.llm.skills.repeating import exact_words
from engine.messages.reading import PauseReading, Place, ReadAloud, SkipReading, Unit
from engine.settings import FAST_LIMIT
from tests.engine.llm.cases import CASES
from tests.engine.llm.skills.asking import HERE, asked, lines, notation

SITUATION = llm.AssistantState(
    rate=None,
    volume=0.5,
    voice="Anna",
    voices=("Anna", "Bruno", "Clara Deep"),
    timers=(llm.Timer("tea", 250.4, 1, seconds=300), llm.Timer("", 10, 2, seconds=60)),
    capabilities={"recogniser": "sphinx"},
)


def rows(name: str) -> list[tuple[str, str]]:
    """What is said, and the answer or the words to say, which may be none."""
    parts = (line.partition(" =>") for line in lines(Path(__file__).with_name(name)))
    return [(said, words.removeprefix(" ")) for said, _, words in parts]


def in_words(deltas: list[llm.Delta]) -> str:
    """A reply in the table's notation."""
    text = "".join(delta.text for delta in deltas if isinstance(delta, llm.TextDelta))
    if text.startswith("That needs a language model. "):
        assert deltas[0] == llm.Unanswered()
        text = "?"
    actions = [delta for delta in deltas if not isinstance(delta, llm.TextDelta | llm.Unanswered)]
    return " | ".join([text, *map(notation, actions)])


@pytest.mark.parametrize(("said", "expected"), rows("utterances.txt"))
def test_an_utterance_gets_its_answer(skills, said, expected):
    reply = skills.reply([llm.Message(llm.Role.USER, said)], lambda: SITUATION)
    assert in_words(list(reply)) == expected


def drawn(text: str, *draws: int) -> tuple[str, list[tuple[int, int]]]:
    """The answer, and the ranges that were drawn from."""
    ranges: list[tuple[int, int]] = []
    coming: Iterator[int] = iter(draws)

    def draw(low: int, high: int) -> int:
        ranges.append((low, high))
        return next(coming)

    return asked(text, draw=draw).text, ranges


@pytest.mark.parametrize(("text", "draws", "answer", "ranges"), CASES["draws"])
def test_the_draws_decide(text, draws, answer, ranges):
    assert drawn(text, *draws) == (answer, [tuple(each) for each in ranges])


MARTIN = replace(HERE, person="Martin")


def test_a_name_is_told_back_in_private_and_forgotten():
    assert asked("my name is martin").private
    known = asked("what's my name", here=MARTIN)
    assert known == Answer("Your name is Martin.", private=True)
    assert "haven't told me" in asked("what's my name").text
    assert asked("forget my name", here=MARTIN).actions == (llm.RememberName(""),)
    assert asked("forget my name") == Answer("I don't know your name.")


WISHES = [
    ("slower please", llm.ChangeRate(by=-STEP)),
    ("Could you speak a bit slower, please?", llm.ChangeRate(by=-BIT)),
    ("slow down", llm.ChangeRate(by=-STEP)),
    ("faster", llm.ChangeRate(by=STEP)),
    ("much faster", llm.ChangeRate(by=LOT)),
    ("normal speed", llm.ChangeRate()),
    ("as fast as you can", llm.ChangeRate(to=FAST_LIMIT)),
    ("five syllables per second", llm.ChangeRate(to=5.0)),
    ("a bit louder please", llm.ChangeVolume(by=0.2)),
    ("turn it down", llm.ChangeVolume(by=-0.2)),
    ("volume 50 percent", llm.ChangeVolume(to=0.5)),
]


@pytest.mark.parametrize(("said", "wish"), WISHES)
def test_a_wish_is_understood_and_so_are_its_beginnings(said, wish):
    assert speech_wish(said) == wish
    words = said.split()
    about = [may_become_speech_wish(" ".join(words[: n + 1])) for n in range(len(words))]
    assert about[-1]
    assert about == sorted(about)
    # the last word may be half said
    assert may_become_speech_wish(f"{said} pl")
    assert not may_become_speech_wish(f"{said} pl and so on")


@pytest.mark.parametrize(
    "said",
    ["", "stop", "what time is it", "slower and tell me the time", "mute", "read notes.txt",
     "how fast is light", "nine hundred syllables per second", "slower " * 40],
)  # fmt: skip
def test_everything_else_is_none(said):
    assert speech_wish(said) is None


@pytest.mark.parametrize("said", ["", "please", "what is the speed of light", "slower but later"])
def test_what_cannot_become_a_wish_is_known_at_once(said):
    assert not may_become_speech_wish(said)


@pytest.mark.parametrize(("said", "words"), rows("exact_words.txt"))
def test_given_words_are_found_and_nothing_else_is_taken_for_them(said, words):
    found = exact_words(said.replace("\\n", "\n"))
    assert (found.text.strip(" .?") if found else "") == words.strip(" .?")


@pytest.mark.parametrize("words", CASES["repeated_words"])
@pytest.mark.parametrize("request_", ["repeat after me:", "Say this:", "please read this aloud:"])
def test_words_behind_a_mark_come_back_as_they_are(request_, words):
    assert asked(f"{request_} {words}").text.strip('"') == words.strip('"')


@pytest.mark.parametrize("mark", ['"', "(", " ", ",", "say ", "say: ", "please "])
def test_a_long_text_takes_no_longer_than_its_length(mark):
    found = exact_words(f"say {mark * 20_000}hello")
    assert found is None or found.text.endswith("hello")


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
