import time
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest

from engine.llm.base import (
    AssistantState,
    ChangeRate,
    Message,
    Role,
    StopSpeaking,
    TextDelta,
    Unanswered,
)
from engine.llm.skills import Skills
from engine.llm.skills.abilities import EXAMPLES
from engine.llm.skills.matching.intent import Answer
from engine.messages.reading import OpenDocument
from engine.settings import Settings, SpeechSettings
from engine.text import tables
from tests.engine.llm.cases import CASES

QUIET = AssistantState(rate=None, volume=0.5, voice="", voices=())
FASTEST, LOUDEST = replace(QUIET, rate=7.0), replace(QUIET, volume=1.0)


def deltas(skills, said, state=QUIET, before=(), confidence=1.0):
    asked = Message(Role.USER, said, confidence=confidence)
    return list(skills.reply([*before, asked], lambda: state))


def text(skills, said, **others):
    answer = deltas(skills, said, **others)
    return "".join(delta.text for delta in answer if isinstance(delta, TextDelta))


@pytest.mark.parametrize(
    ("said", "state", "answer"),
    [
        ("faster", FASTEST, "I can't speak any faster."),
        ("louder", LOUDEST, "This is as loud as I can be."),
        ("how long is left", QUIET, "There is no timer running."),
        *((said, QUIET, "I didn't catch that.") for said in ("", "   ", "...", "?!")),
        *(
            (said, QUIET, "I had said all of it.")
            for said in tables.phrases("barge_in_words", "goes_on")
        ),
    ],
)
def test_where_nothing_can_be_done_there_is_an_answer_alone(skills, said, state, answer):
    assert deltas(skills, said, state) == [TextDelta(answer)]


@pytest.mark.parametrize(
    ("said", "rate"),
    [("ten syllables per second", 10.0), ("as fast as you can", 13.0), ("twice as fast", 8.0)],
)
def test_with_fast_speech_faster_goes_further(skills, said, rate):
    fast = replace(QUIET, settings=Settings(speech=SpeechSettings(fast=True)))
    assert ChangeRate(to=rate) in deltas(skills, said, fast)
    assert ChangeRate(to=rate) not in deltas(skills, said)


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
        answer = text(skills, "who wrote hamlet", before=history)
        answers.add(answer)
        history += [Message(Role.USER, "who wrote hamlet"), Message(Role.ASSISTANT, answer)]

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
        (", um" * 400, 0.5),
        ("," * 1500 + "um", 0.5),
        ("\0\n\t \u202e \U0001f600" * 40, 0.5),
    ],
    ids=range(13),
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


@pytest.mark.parametrize(("said", "asked", "is_left"), CASES["hums"])
def test_a_hum_is_answered_only_where_it_may_mean_yes_and_a_model_is_there(
    skills, said, asked, is_left
):
    history = [Message(Role.ASSISTANT, asked), Message(Role.USER, said, confidence=0.2)]
    silence = Answer(actions=(StopSpeaking(),))
    assert skills.certain_answer(history, lambda: QUIET) == (None if is_left else silence)
    assert list(skills.reply(history, lambda: QUIET)) == [StopSpeaking()]


@pytest.fixture
def documents(tmp_path):
    folder = tmp_path / "Documents"
    folder.mkdir()
    return folder


@pytest.fixture
def reply(documents):
    """reply(said): the deltas of the answer."""
    skills = Skills(now=lambda: datetime(2026, 1, 5), documents=documents)
    return lambda said: list(skills.reply([Message(Role.USER, said)], pytest.fail))


def opened(deltas) -> Path:
    """Return the document that is opened to be read aloud."""
    (order,) = deltas
    assert order == OpenDocument(order.path, aloud=True)
    return order.path


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("notes.txt", "read the file notes.txt"),
        *(("Shopping_List.md", said) for said in (
            "read the file shopping list", "read the shopping list file", "Read Shopping_List.md")),
        ("work/plan.txt", "read the file work slash plan dot txt"),
        ("../elsewhere.txt", "read the file {tmp_path}/elsewhere.txt"),
        ("Moby Dick.epub", "read the file moby dick"),
    ],
)  # fmt: skip
def test_a_file_is_found_by_its_spoken_name_and_opened(reply, documents, tmp_path, name, said):
    (documents / "work").mkdir()
    (documents / name).write_text("Buy milk.", encoding="utf-8")

    assert opened(reply(said.format(tmp_path=tmp_path))).samefile(documents / name)


@pytest.mark.parametrize(
    "said",
    [
        "read the file ../secret.txt", "read the file link.txt", "read the file work/secret.txt",
        "read the file notes", "read the notes file", "read notes.md",
    ],
)  # fmt: skip
def test_nothing_outside_the_documents_is_read(reply, documents, tmp_path, said):
    """By a name, a link to a file, a folder that is a link, or a name that is spoken."""
    (tmp_path / "private").mkdir()
    for secret in (tmp_path / "secret.txt", tmp_path / "private" / "secret.txt"):
        secret.write_text("Secret.", encoding="utf-8")
    (documents / "link.txt").symlink_to(tmp_path / "secret.txt")
    (documents / "notes.md").symlink_to(tmp_path / "secret.txt")
    (documents / "work").symlink_to(tmp_path / "private")

    (delta,) = reply(said)
    assert "outside your documents" in delta.text


def test_a_link_inside_the_documents_is_opened(reply, documents):
    (documents / "notes of monday.txt").write_text("Buy milk.", encoding="utf-8")
    (documents / "today.txt").symlink_to(documents / "notes of monday.txt")
    assert opened(reply("read the file today")) == documents / "today.txt"


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("nothing.txt", "can't find nothing.txt"),
        ("/nowhere/nothing.txt", "no file nothing.txt"),
        ("x" * 280 + ".txt", "could not open"),
        ("~nosuchperson/x.txt", "could not open x.txt"),
        ("//server/share/notes.txt", "I only read files on this computer."),
    ],
)
def test_a_file_that_is_not_found_is_explained(reply, name, words):
    assert words in "".join(delta.text for delta in reply(f"read the file {name}"))


def test_a_long_text_is_read_to_its_end_in_pieces(reply):
    text = "One more sentence here. " * 500
    read = [delta.text for delta in reply(f"read this text: {text}")]
    assert "".join(read) == text.strip()
    assert len(read) > 10
