from engine.llm.base import Message, Role
from engine.messages import Ending
from engine.runtime.happenings import Delivery
from engine.runtime.ledger import Ledger
from engine.text.word import Word

REPLY = "It is **six** o'clock now."
WORDS = tuple(
    Word(text, start, start + len(text))
    for text, start in (("It", 0), ("is", 3), ("six", 8), ("o'clock", 14), ("now.", 22))
)


def turn_heard(count: int) -> Ledger:
    ledger = Ledger()
    ledger.say("what time is it")
    record = ledger.record(1)
    record.reply = REPLY
    record.words.extend(WORDS)
    record.delivery = Delivery(WORDS[:count], speech_ms=100.0 * count, underruns=0)
    return ledger


def test_a_complete_reply_is_kept_as_it_was_written() -> None:
    ledger = turn_heard(5)
    ended = ledger.end(1, Ending.COMPLETE)
    assert ended.heard == ended.reply == REPLY
    assert ended.spoken == "It is six o'clock now."
    assert ledger.history[-1] == Message(Role.ASSISTANT, REPLY)


def test_an_interrupted_reply_is_kept_up_to_its_last_heard_word() -> None:
    ledger = turn_heard(3)
    assert ledger.end(1, Ending.INTERRUPTED_BY_ESCAPE).heard == "It is **six"
    assert ledger.history[-1] == Message(Role.ASSISTANT, "It is **six", interrupted=True)


def test_a_reply_nobody_heard_leaves_no_trace_in_the_history() -> None:
    ledger = turn_heard(0)
    ledger.end(1, Ending.INTERRUPTED_BY_ESCAPE)
    assert [message.role for message in ledger.history] == [Role.USER]


def test_times_count_from_the_end_of_speech() -> None:
    ledger = turn_heard(5)
    record = ledger.record(1)
    record.speech_ended_at, record.first_token_at, record.heard_at = 10.0, 10.25, 10.5
    metrics = ledger.end(1, Ending.COMPLETE).metrics
    assert (metrics.first_token_ms, metrics.heard_ms) == (250.0, 500.0)
    assert metrics.transcript_ms is None
    assert metrics.speech_ms == 500.0


def test_a_turn_that_is_over_is_not_found_again() -> None:
    ledger = turn_heard(1)
    ledger.end(1, Ending.COMPLETE)
    assert ledger.find(1) is None
