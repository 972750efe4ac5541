import time
from dataclasses import replace

import pytest

from engine.llm.base import Message, Role, Situation, TextDelta, Unanswered
from engine.llm.skills.abilities import EXAMPLES
from engine.text.interaction import GOES_ON
from tests.engine.llm.cases import CASES

QUIET = Situation(rate=None, volume=0.5, voice="", voices=())
FASTEST, LOUDEST = replace(QUIET, rate=7.0), replace(QUIET, volume=1.0)


def deltas(skills, said, situation=QUIET, before=(), confidence=1.0):
    asked = Message(Role.USER, said, confidence=confidence)
    return list(skills.reply([*before, asked], lambda: situation))


def text(skills, said, **others):
    answer = deltas(skills, said, **others)
    return "".join(delta.text for delta in answer if isinstance(delta, TextDelta))


@pytest.mark.parametrize(
    ("said", "situation", "answer"),
    [
        ("faster", FASTEST, "I can't speak any faster."),
        ("louder", LOUDEST, "This is as loud as I can be."),
        ("how long is left", QUIET, "There is no timer running."),
        *((said, QUIET, "I didn't catch that.") for said in ("", "   ", "...", "?!")),
        *((said, QUIET, "I had said all of it.") for said in GOES_ON),
    ],
)
def test_where_nothing_can_be_done_there_is_an_answer_alone(skills, said, situation, answer):
    assert deltas(skills, said, situation) == [TextDelta(answer)]


def test_without_timers_and_voices_there_is_nothing_to_cancel_and_to_choose(skills):
    for said in ("cancel the timer", "use the voice anna"):
        assert all(isinstance(delta, TextDelta | Unanswered) for delta in deltas(skills, said))


def test_the_situation_is_only_asked_for_when_needed(skills):
    reply = skills.reply([Message(Role.USER, "what time is it")], pytest.fail)
    assert list(reply) == [TextDelta("It's 3:45 PM.")]


def test_the_examples_of_what_can_be_asked_rotate_and_are_understood(skills):
    history = []
    answers = set()
    for example in EXAMPLES:
        assert "language model" not in text(skills, example)
        answers.add(text(skills, "who wrote hamlet", before=history))
        history += [Message(Role.USER, "who wrote hamlet"), Message(Role.ASSISTANT, "?")]

    assert len(answers) == len(EXAMPLES)


@pytest.mark.parametrize(
    ("said", "certain"),
    [*((said, False) for said in ("say hello", "hello", "who are you", "thanks", "what is love")),
     ("slower", True)],
)  # fmt: skip
def test_what_a_model_answers_better_is_not_certain(skills, said, certain):
    found = skills.certain_answer([Message(Role.USER, said)], lambda: QUIET)
    assert (found is not None) == certain


@pytest.mark.parametrize(
    ("said", "limit_s"),  # seconds of the processor: a busy machine makes nothing slow
    [
        ("convert six feet two inches to centimetres", 0.03),
        ("what is the capital of france", 0.03),
        # 20 ms where measured; far from exponential
        ("what is " + "one to two in " * 20, 0.5),
        ("to in as is are " * 18, 0.5),
        ("read this " + "word in file aloud " * 5000, 0.5),
        ("set a timer for " + "ten minutes and " * 18, 0.5),
        ("how many to in are in is in " * 10, 0.5),
        ("(" * 150 + "1" + ")" * 148, 0.5),
        ("9" * 250, 0.5),
        ("x" * 100_000, 0.5),
        ("\0\n\t \u202e \U0001f600" * 40, 0.5),
    ],
    ids=range(11),
)
def test_any_input_is_answered_and_quickly(skills, said, limit_s):
    times = []
    for _ in range(5):
        started = time.thread_time()
        assert text(skills, said)
        times.append(time.thread_time() - started)
    assert min(times) < limit_s


@pytest.mark.parametrize("at", range(298, 303))
def test_long_words_come_back_whole_wherever_a_space_falls(skills, at):
    asked = "repeat after me "
    said = f"{'a' * (at - len(asked))} {'b' * 50}"  # the space is character `at` of the request

    assert text(skills, asked + said) == said


@pytest.mark.parametrize(("said", "confidence", "answer"), CASES["heard_badly"])
def test_what_was_heard_badly_and_not_understood_is_asked_again(skills, said, confidence, answer):
    assert text(skills, said, confidence=confidence).startswith(answer)
