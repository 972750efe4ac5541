"""What a turn leaves: its words as they were heard, in order and without the pauses."""

import os
from datetime import datetime

import pytest

from engine.llm.base import Message, Role
from engine.messages.words import Ending
from engine.runtime.turn import log
from engine.runtime.turn.facts import Delivery, WordBegan
from engine.runtime.turn.log import TurnLog
from engine.runtime.turn.record import delivered, so_far
from engine.text.word import Word
from tests.engine.llm.skills.asking import BERLIN, in_zone

REPLY = "It is **six** o'clock now."
WORDS = tuple(
    Word(text, start, start + len(text))
    for text, start in (("It", 0), ("is", 3), ("six", 8), ("o'clock", 14), ("now.", 22))
)


def turn_heard(count: int) -> TurnLog:
    ledger = TurnLog(clock=lambda: 48.0)
    record = ledger.record(1)
    record.said = "what time is it"
    record.reply = REPLY
    record.words.extend(WORDS)
    record.began.extend(WordBegan(1, WORDS[n], 50.0 + 0.1 * n) for n in range(count))
    onsets_ms = tuple(100.0 * number for number in range(count))
    record.delivery = Delivery(WORDS[:count], 100.0 * count, 0, onsets_ms)
    return ledger


def left_unsaid(ledger: TurnLog, turn: int) -> str:
    cut = ledger.cut_by(turn)
    return cut.unsaid if cut else ""


def test_a_reply_that_could_only_be_read_counts_as_far_as_it_was_written():
    ledger = turn_heard(0)
    ledger.record(1).delivery = Delivery(read=True)
    assert ledger.end(1, Ending.INTERRUPTED_BY_TALK_KEY).heard == REPLY
    assert ledger.history[-1] == Message(Role.ASSISTANT, REPLY, interrupted=True)
    assert left_unsaid(ledger, 2) == ""
    (turn,) = ledger.conversation().turns
    assert (turn.heard, turn.words) == (REPLY, ())


def test_a_reply_that_failed_before_a_word_was_heard_leaves_no_trace_in_the_history():
    ledger = turn_heard(0)
    ledger.end(1, Ending.FAILED)
    assert [message.role for message in ledger.history] == [Role.USER]


@pytest.mark.parametrize(
    ("count", "ending", "unsaid"),
    [
        (2, Ending.INTERRUPTED_BY_TALK_KEY, "is **six** o'clock now."),
        (2, Ending.INTERRUPTED_BY_SPEECH, "is **six** o'clock now."),
        (0, Ending.INTERRUPTED_BY_SPEECH, REPLY),
        (5, Ending.INTERRUPTED_BY_SPEECH, ""),
        (2, Ending.INTERRUPTED_BY_ESCAPE, ""),
        (5, Ending.COMPLETE, ""),
    ],
)
def test_a_reply_cut_by_voice_has_left_unsaid_all_from_the_word_it_was_cut_on(
    count, ending, unsaid
):
    ledger = turn_heard(count)
    ledger.end(1, ending)
    assert left_unsaid(ledger, 2) == unsaid
    ledger.drop(2)  # a cough
    assert left_unsaid(ledger, 3) == unsaid
    ledger.record(3)
    assert left_unsaid(ledger, 4) == ""  # of which it was not the cause


def test_what_was_said_in_a_turn_that_goes_on_as_the_next_one_is_taken_back():
    ledger = TurnLog(clock=lambda: 0.0)
    ledger.record(1).said = "hello"
    ledger.record(2).said = "what time is it"
    ledger.rejoin(2)
    assert ledger.end(2, Ending.SUPERSEDED).said == ""
    assert not ledger.say_late(2, "what time is it")
    assert [message.text for message in ledger.history] == ["hello"]


def test_what_was_said_in_a_turn_taken_over_is_not_lost():
    ledger = TurnLog()
    ledger.record(1)
    ledger.end(1, Ending.SUPERSEDED)
    assert ledger.conversation().turns == ()
    ledger.record(2).said = "thanks"
    assert ledger.say_late(1, "and another thing")
    assert [turn.said for turn in ledger.conversation().turns] == ["and another thing", "thanks"]
    assert [message.text for message in ledger.history] == ["and another thing", "thanks"]


def test_what_was_said_in_an_old_conversation_or_by_nobody_is_not_said_late():
    ledger = turn_heard(5)
    ledger.end(1, Ending.COMPLETE)
    ledger.record(2)
    ledger.drop(2)
    assert not ledger.say_late(2, "a cough")
    ledger.begin()
    assert not ledger.say_late(1, "what time is it")
    assert (ledger.history, ledger.conversation().turns) == ((), ())


COUNTED = (Word("One", 0, 3), Word("two", 4, 7), Word("three.", 8, 14))
ONSETS_MS = (0.0, 400.0, 700.0)


def told(*at: float) -> list[WordBegan]:
    return [WordBegan(1, word, when) for word, when in zip(COUNTED, at, strict=False)]


def times(words) -> list[tuple[float, float]]:
    return [(round(word.start_s, 3), round(word.end_s, 3)) for word in words]


@pytest.mark.parametrize(
    ("told_at", "expected"),
    [
        pytest.param((10, 10.4, 10.7), [(1, 1.4), (1.4, 1.7), (1.7, 2.2)], id="by its samples"),
        pytest.param((10, 12, 12.3), [(1, 1.4), (3, 3.3), (3.3, 3.8)], id="pause of an empty ring"),
        pytest.param((10, 10.35, 10.7), [(1, 1.35), (1.35, 1.65), (1.7, 2.2)], id="told early"),
        pytest.param((10, 9.8, 10.7), [(1, 1), (1, 1.3), (1.7, 2.2)], id="device of bursts"),
    ],
)
def test_words_are_in_order_and_last_as_long_as_they_are_heard(told_at, expected):
    delivery = Delivery(COUNTED, 1_200.0, 0, ONSETS_MS)
    assert times(delivered(delivery, told(*told_at), 9.0)) == expected


def test_the_last_word_before_a_cut_is_there_for_as_long_as_it_was_heard():
    delivery = Delivery(COUNTED[:2], 450.0, 0, ONSETS_MS[:2])
    words = delivered(delivery, told(10.0), 10.0)
    assert [(word.text, word.start, word.end) for word in words] == [("One", 0, 3), ("two", 4, 7)]
    assert times(words) == [(0.0, 0.4), (0.4, 0.45)]
    assert delivered(Delivery(), [], 10.0) == ()  # nobody heard it


def test_while_a_reply_goes_on_a_word_lasts_until_the_next():
    assert times(so_far(told(10.0, 10.4), 10.0)) == [(0.0, 0.4), (0.4, 0.4)]
    assert so_far([], 10.0) == ()


@pytest.mark.skipif(os.name == "nt", reason="Windows does not take TZ")
def test_a_conversation_began_at_the_offset_of_its_beginning(berlin, monkeypatch):
    """Written after the clocks were put back."""
    now = datetime.fromisoformat("2026-10-25T02:10+01:00")
    monkeypatch.setattr(log, "_now", lambda: now)
    ledger = TurnLog(clock=iter((0.0, 1_200.0)).__next__)
    ledger.say(1, "hello")
    assert ledger.conversation().began.isoformat() == "2026-10-25T02:50:00+02:00"


@pytest.fixture
def berlin(monkeypatch):
    yield from in_zone(monkeypatch, BERLIN)


@pytest.mark.parametrize("count", [0, 1])
def test_a_model_goes_on_after_the_last_reply_alone_from_its_last_complete_word(count):
    """The other reply was cut at the same word; the word behind the end of a line is incomplete."""
    ledger = TurnLog(clock=lambda: 48.0)
    for turn in (1, 2):
        record = ledger.record(turn)
        record.said, record.reply, record.unfinished = "a poem", "Roses are\nre", True
        words = (Word("Roses", 0, 5), Word("are", 6, 9))[: 2 * count]
        record.delivery = Delivery(words, 200.0, 0, (0.0, 100.0)[: 2 * count])
        ledger.end(turn, Ending.INTERRUPTED_BY_ESCAPE)
    heard = ledger.history[1].text
    rest, asked = ledger.to_be_continued(3)
    assert rest == ("are\n" if count else "Roses are\n")
    assert [each.text for each in asked] == ["a poem", heard, "a poem", "Roses are\n"]
