"""The mind, ticked by hand: it gets ready for the next question while nobody has the floor."""

import queue
import threading
from dataclasses import replace
from types import SimpleNamespace

import pytest

from engine.errors import LanguageModelError
from engine.llm.base import Message, Retraction, Role, StartTimer, StillLoading
from engine.messages.events import Event, Failed, Loading, Notice, Ready
from engine.runtime.turn.facts import ActionAsked, Fact, ReplyGrew, ReplyRetracted
from engine.runtime.turn.live_controls import LiveControls
from engine.runtime.turn.reply import Reply
from engine.runtime.workers.language_model_worker import GetReady, LanguageModelWorker, Rest
from engine.runtime.workers.voice.orders import Order
from engine.settings import LanguageModelSettings
from tests.fakes import FakeLanguageModel, FakeParts

HISTORY = (Message(Role.USER, "hello"), Message(Role.ASSISTANT, "Good day."))


class Mind:
    """A worker whose model takes three slices to get ready."""

    def __init__(self) -> None:
        self.model = FakeLanguageModel("Yes.")
        self.model.slices = 3
        self.told: list[Fact | Event] = []
        self.said: list[Order] = []
        factories = FakeParts(model=self.model).factories()
        self.worker = LanguageModelWorker(
            factories, self.told.append, self.said.append, lambda: None
        )
        self.worker._handle(LanguageModelSettings())
        self.worker._load_wanted()

    def ready_at_leisure(self) -> "Mind":
        """All else that is to run does."""
        self.worker._handle(GetReady(()))
        return self

    def rest(self) -> None:
        """Until there is nothing left to do."""
        while self.worker._tick() is not None:
            pass


def test_while_other_parts_are_loaded_it_leaves_them_the_processor() -> None:
    mind = Mind()
    mind.rest()
    assert mind.model.warmed == []


def test_it_gets_ready_for_what_follows_a_turn() -> None:
    mind = Mind().ready_at_leisure()
    mind.rest()
    assert mind.model.warmed == [(), (), ()]  # for the first question
    mind.worker._handle(GetReady(HISTORY))
    mind.rest()
    assert mind.model.warmed[3:] == [("hello", "Good day.")] * 3


def test_who_begins_to_speak_waits_for_one_slice_at_most() -> None:
    mind = Mind().ready_at_leisure()
    mind.worker._tick()
    mind.worker._handle(Rest())
    mind.rest()
    assert len(mind.model.warmed) == 1


def test_a_question_is_answered_before_the_model_is_ready() -> None:
    mind = Mind().ready_at_leisure()
    mind.worker._tick()
    controls = LiveControls(lead_ms=240)
    mind.worker._handle(Reply(1, controls, asked=HISTORY[:1], paced=False, aloud=True))
    mind.rest()
    assert len(mind.model.warmed) == 1
    assert mind.model.histories == [HISTORY[:1]]


def test_what_fails_while_getting_ready_is_left_for_the_reply_to_tell() -> None:
    mind = Mind().ready_at_leisure()
    mind.model.broken = LanguageModelError("The template failed.")
    mind.rest()
    assert mind.worker._tick() is None
    assert not [told for told in mind.told if isinstance(told, Failed)]


TIMER = StartTimer(60.0, "", "Done.")


def test_of_a_reply_prepared_in_vain_nothing_is_ever_told() -> None:
    mind = Mind()
    mind.model.deltas = ("They ask.", TIMER, Retraction(), "Ten.")
    reply = Reply(1, LiveControls(lead_ms=240), asked=HISTORY[:1], paced=False)
    mind.worker._handle(reply)
    reply.aloud = True
    mind.worker._handle(reply)
    assert [told.text for told in mind.told if isinstance(told, ReplyGrew)] == ["Ten."]
    assert [word.text for order in mind.said for word in order.words] == ["Ten."]
    assert ActionAsked(1, TIMER) in mind.told
    assert not [told for told in mind.told if isinstance(told, ReplyRetracted)]


def test_a_server_that_loads_its_model_is_told_in_a_line() -> None:
    mind = Mind()
    mind.model.deltas = (StillLoading(), "Ten.")
    mind.worker._handle(Reply(1, LiveControls(lead_ms=240), asked=HISTORY[:1], aloud=True))
    (notice,) = (told for told in mind.told if isinstance(told, Notice))
    assert "still loading" in notice.text


def loading_until_cancelled(began: threading.Event):
    """A language model of which 'llama' never finishes to load, and 'skills' does at once."""

    def load(settings, progress):
        while settings.engine == "llama":
            progress("Trying", None)
            began.set()
        return FakeLanguageModel("Yes.")

    return load


@pytest.fixture
def endless():
    """endless.worker loads for ever; endless.began tells that it began."""
    began, told = threading.Event(), queue.SimpleQueue()
    factories = replace(FakeParts().factories(), language_model=loading_until_cancelled(began))
    worker = LanguageModelWorker(factories, told.put, lambda order: None, lambda: None)
    worker.start()
    worker.post(LanguageModelSettings(engine="llama"))
    assert began.wait(10)
    yield SimpleNamespace(worker=worker, told=told)
    worker.stop(10)


def test_loading_is_given_up_for_another_model(endless) -> None:
    endless.worker.post(LanguageModelSettings())
    told = []
    while not (told and isinstance(told[-1], Ready)):
        told.append(endless.told.get(timeout=10))
    assert [each.text for each in told if isinstance(each, Loading)] == [
        "Loading llama",
        "Trying",
        "Loading skills",
    ]
    assert not [each for each in told if isinstance(each, Failed)]


def test_loading_is_not_given_up_for_what_applies_live() -> None:
    told: list[Fact | Event] = []
    model = FakeLanguageModel("Yes.")
    settings = LanguageModelSettings(engine="llama")
    warmer = replace(settings, temperature=1.5)

    def load(_: LanguageModelSettings, progress):
        worker.post(warmer)
        progress("Still loading", None)
        return model

    factories = replace(FakeParts().factories(), language_model=load)
    worker = LanguageModelWorker(factories, told.append, lambda order: None, lambda: None)
    worker.post(settings)
    for chosen in (settings, warmer):
        worker._handle(chosen)
        worker._load_wanted()
    assert model.settings == warmer
    assert len([each for each in told if isinstance(each, Loading)]) == 2  # of one load
    assert not [each for each in told if isinstance(each, Failed)]


def test_a_changed_system_prompt_is_made_ready_for() -> None:
    mind = Mind().ready_at_leisure()
    mind.rest()
    prompted = LanguageModelSettings(system_prompt="Be brief.")
    mind.worker._handle(prompted)
    mind.rest()
    assert mind.model.settings == prompted
    assert len(mind.model.warmed) == 6


def test_loading_does_not_keep_the_thread_from_ending(endless) -> None:
    assert endless.worker.stop(10)
