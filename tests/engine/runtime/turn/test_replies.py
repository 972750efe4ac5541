"""Replies prepared before it is certain that the person has finished, on a worker run by hand."""

import pytest

from engine.errors import LanguageModelError
from engine.messages.events import Failed
from engine.messages.words import Ending
from engine.runtime.turn import waiting
from engine.runtime.turn.facts import ReplyGrew
from engine.runtime.workers import worker
from tests.engine.runtime.by_hand import HandWorker, Mind, asked


@pytest.fixture(autouse=True)
def _by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "Worker", HandWorker)


@pytest.mark.parametrize(("turn", "text"), [(1, "slower please"), (2, "slower")])
def test_another_question_than_the_one_prepared_for_is_thought_about_anew(turn, text):
    mind = Mind("Yes.")
    mind.replies.begin(1, asked=asked("slower"), aloud=False)
    mind.do()
    mind.replies.begin(turn, asked=asked(text))
    mind.do()
    assert [history[-1].text for history in mind.model.histories] == ["slower", text]
    assert (mind.said[-1].reply.turn, mind.said[-1].last) == (turn, True)
    assert len(mind.told_of(ReplyGrew)) == 1


def test_a_dropped_reply_is_never_heard():
    mind = Mind("Yes.")
    mind.replies.begin(1, asked=asked("slower"), aloud=False)
    mind.do()
    assert mind.replies.drop()
    assert not mind.replies.drop()
    mind.replies.begin(1, asked=asked("slower please"))
    mind.replies.end(1, Ending.SUPERSEDED)
    mind.do()
    assert (mind.told, mind.said) == ([], [])


def test_a_reply_asked_for_before_it_was_prepared_goes_out_word_by_word():
    mind = Mind("One ", "two.")
    mind.replies.begin(1, asked=asked("count"), aloud=False)
    mind.replies.begin(1, asked=asked("count"))
    mind.do()
    assert len(mind.model.histories) == 1
    assert [(len(order.words), order.last) for order in mind.said] == [(1, False), (1, True)]


def test_a_fault_while_preparing_is_told_only_when_the_reply_is_let_out():
    mind = Mind(LanguageModelError("The server went away."))
    mind.replies.begin(1, asked=asked("hello"), aloud=False)
    mind.do()
    assert mind.told == []
    mind.replies.begin(1, asked=asked("hello"))
    mind.do()
    assert isinstance(mind.told[0], Failed)
    assert [(order.words, order.last) for order in mind.said] == [((), True)]


def test_a_text_that_is_read_out_takes_the_place_of_a_prepared_reply():
    mind = Mind("Yes.")
    mind.replies.begin(1, asked=asked("hello"), aloud=False)
    mind.replies.begin(2, text="Your tea is ready.")
    mind.do()
    assert {order.reply.turn for order in mind.said} == {2}
    assert not mind.replies.drop()


@pytest.mark.parametrize(
    ("deltas", "stalled"), [((), "The language model"), (("One ", "two "), "The voice")]
)
def test_a_turn_that_stands_still_names_the_part_that_has_something_to_do(deltas, stalled):
    """The voice has been given words, of which it has said none."""
    mind = Mind(*deltas)
    mind.replies.begin(1, asked=asked("count"))
    reply = mind.replies.find(1)
    if deltas:  # else the model has written nothing yet
        mind.do()
    assert waiting.fault(1, reply).message.startswith(stalled)
