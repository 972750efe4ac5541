"""Replies prepared before it is certain that the person has finished, on a worker run by hand."""

from types import SimpleNamespace

import pytest

from engine.errors import LanguageModelError
from engine.llm.base import Message, Role
from engine.messages.events import Event, Failed
from engine.messages.words import Ending
from engine.runtime.turn.facts import Fact, ReplyGrew
from engine.runtime.turn.live_controls import LiveControls
from engine.runtime.turn.replies import Replies
from engine.runtime.workers import worker
from engine.runtime.workers.language_model_worker import LanguageModelWorker
from engine.runtime.workers.voice.orders import Order
from engine.settings import LanguageModelSettings
from tests.fakes import FakeLanguageModel, FakeParts


class HandWorker:
    """See Worker; works when run() is called."""

    def __init__(self, name: str, **roles: object) -> None:
        self._handle, self._report = roles["handle"], roles["report"]
        self._tick = roles["tick"]
        self._inbox: list[object] = []

    def post(self, message: object) -> None:
        self._inbox.append(message)

    def run(self) -> None:
        while self._inbox:
            try:
                self._handle(self._inbox.pop(0))
            except Exception as error:  # noqa: BLE001 - as the real worker does
                self._report(error)
        self._tick()


class Mind:
    """A worker, who directs it, and all that came out of it."""

    def __init__(self, *deltas: object) -> None:
        self.model = FakeLanguageModel(*deltas)
        self.told: list[Fact | Event] = []
        self.said: list[Order] = []
        parts = FakeParts(model=self.model)
        self.worker = LanguageModelWorker(
            parts.factories(), self.told.append, self.said.append, lambda: None
        )
        workers = SimpleNamespace(language_model=self.worker, controls=LiveControls(lead_ms=240))
        self.replies = Replies(workers)
        self.worker.post(LanguageModelSettings())
        self.run()
        self.told.clear()

    def run(self) -> None:
        self.worker._worker.run()

    def ended_words(self) -> int:
        """The turn whose words have come to an end last."""
        assert self.said[-1].last
        return self.said[-1].reply.turn


@pytest.fixture(autouse=True)
def _by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "Worker", HandWorker)


def asked(text: str) -> tuple[Message, ...]:
    return (Message(Role.USER, text),)


@pytest.mark.parametrize(("turn", "text"), [(1, "slower please"), (2, "slower")])
def test_another_question_than_the_one_prepared_for_is_thought_about_anew(
    turn: int, text: str
) -> None:
    mind = Mind("Yes.")
    mind.replies.prepare(1, asked("slower"))
    mind.run()
    mind.replies.answer(turn, asked(text))
    mind.run()
    assert [history[-1].text for history in mind.model.histories] == ["slower", text]
    assert mind.ended_words() == turn
    assert sum(isinstance(event, ReplyGrew) for event in mind.told) == 1


def test_a_dropped_reply_is_never_heard() -> None:
    mind = Mind("Yes.")
    mind.replies.prepare(1, asked("slower"))
    mind.run()
    assert mind.replies.drop()
    assert not mind.replies.drop()
    mind.replies.answer(1, asked("slower please"))
    mind.replies.end(1, Ending.SUPERSEDED)
    mind.run()
    assert (mind.told, mind.said) == ([], [])


def test_a_reply_asked_for_before_it_was_prepared_goes_out_word_by_word() -> None:
    mind = Mind("One ", "two.")
    mind.replies.prepare(1, asked("count"))
    mind.replies.answer(1, asked("count"))
    mind.run()
    assert len(mind.model.histories) == 1
    assert [(len(order.words), order.last) for order in mind.said] == [(1, False), (1, True)]


def test_a_fault_while_preparing_is_told_only_when_the_reply_is_let_out() -> None:
    mind = Mind(LanguageModelError("The server went away."))
    mind.replies.prepare(1, asked("hello"))
    mind.run()
    assert mind.told == []
    mind.replies.answer(1, asked("hello"))
    mind.run()
    assert isinstance(mind.told[0], Failed)
    assert [(order.words, order.last) for order in mind.said] == [((), True)]


def test_a_text_that_is_read_out_takes_the_place_of_a_prepared_reply() -> None:
    mind = Mind("Yes.")
    mind.replies.prepare(1, asked("hello"))
    mind.replies.read_out(2, "Your tea is ready.")
    mind.run()
    assert {order.reply.turn for order in mind.said} == {2}
    assert not mind.replies.drop()
