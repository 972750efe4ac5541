"""The mind, run by hand: it gets ready for the next question while nobody has the floor."""

import queue
import threading
from dataclasses import replace
from datetime import UTC, datetime
from types import SimpleNamespace

import pytest

from engine.errors import LanguageModelError, ModelError
from engine.llm.base import (
    LearnSound,
    Message,
    Remark,
    Retraction,
    Role,
    StartTimer,
    StillLoading,
    TextDelta,
    Unanswered,
)
from engine.llm.skills.model import understands
from engine.messages.events import (
    Event,
    Failed,
    Loading,
    ModelWanted,
    Notice,
    Ready,
    ReplyRetracted,
)
from engine.messages.words import Ending
from engine.runtime.turn.facts import ActionAsked, Fact, ReplyGrew, Titled
from engine.runtime.turn.reply import Reply
from engine.runtime.workers import worker as worker_file
from engine.runtime.workers.language_model_worker import (
    QUIET_S,
    TITLE_WANTED,
    GetReady,
    LanguageModelWorker,
    Rest,
)
from engine.settings import LanguageModelSettings
from engine.translatable import Translatable
from tests.engine.runtime.by_hand import NOWHERE, HandWorker, Mind, asked
from tests.help.fakes.parts import FakeLanguageModel, FakeParts

HISTORY = (*asked("hello"), Message(Role.ASSISTANT, "Good day."))


@pytest.fixture
def mind(monkeypatch: pytest.MonkeyPatch) -> Mind:
    """Its model takes three slices to get ready, one at a run; it has had none."""
    with monkeypatch.context() as patch:
        patch.setattr(worker_file, "Worker", HandWorker)
        mind = Mind("Yes.")
    mind.model.slices = 3
    return mind


def aloud(mind: Mind, turn: int = 1) -> Reply:
    return Reply(turn, mind.controls, asked=asked("hello"), aloud=True)


def rest(mind: Mind) -> None:
    while mind.do() is not None:
        pass


def test_it_gets_ready_for_what_follows_a_turn_once_other_parts_are_loaded(mind):
    rest(mind)
    assert mind.model.warmed == []
    mind.do(GetReady(()))
    rest(mind)
    assert mind.model.warmed == [(), (), ()]  # for the first question
    mind.do(GetReady(HISTORY))
    rest(mind)
    assert mind.model.warmed[3:] == [("hello", "Good day.")] * 3
    prompted = LanguageModelSettings(system_prompt="Be brief.")
    mind.do(prompted)
    rest(mind)
    assert mind.model.settings == prompted
    assert len(mind.model.warmed) == 9


def test_who_begins_to_speak_or_asks_waits_for_one_slice_at_most(mind):
    mind.do(GetReady(()))
    mind.do(Rest())
    rest(mind)
    assert len(mind.model.warmed) == 1
    mind.do(GetReady(()))
    mind.do(Reply(1, mind.controls, asked=asked("hello"), paced=False, aloud=True))
    rest(mind)
    assert len(mind.model.warmed) == 2
    assert mind.model.histories == [asked("hello")]


def test_what_fails_while_getting_ready_is_left_for_the_reply_to_tell(mind):
    mind.model.broken = LanguageModelError("The template failed.")
    mind.do(GetReady(()))
    rest(mind)
    assert mind.told_of(Failed) == []


TIMER = StartTimer(60.0, "", "Done.")


def test_of_a_reply_prepared_in_vain_nothing_is_ever_told(mind):
    mind.model.deltas = ("They ask.", TIMER, Retraction(), "Ten.")
    reply = Reply(1, mind.controls, asked=asked("hello"), paced=False)
    mind.do(reply)
    reply.aloud = True
    mind.do(reply)
    assert [told.text for told in mind.told_of(ReplyGrew)] == ["Ten."]
    assert [word.text for order in mind.said for word in order.words] == ["Ten."]
    assert ActionAsked(1, TIMER) in mind.told
    assert mind.told_of(ReplyRetracted) == []


class CountingModel(FakeLanguageModel):
    """Writes words until it is closed; somebody speaks after the second one."""

    def __init__(self) -> None:
        super().__init__()
        self.closed = 0
        self.replies: list[Reply] = []

    def reply(self, history, state):
        try:
            for number in range(8):
                if number == 2:
                    self.replies[-1].end(Ending.INTERRUPTED_BY_SPEECH)
                yield TextDelta(f"{number} ")
        finally:
            self.closed += 1


@pytest.mark.parametrize("after", ["its rest", "another question", "nothing more"])
def test_a_reply_that_a_voice_cut_is_written_on_for_its_rest_only(mind, after):
    model = mind.worker._model.now = CountingModel()
    cut = Reply(1, mind.controls, asked=asked("count"), aloud=True)
    model.replies.append(cut)
    mind.do(cut)
    assert (model.closed, cut.written) == (0, False)
    assert "".join(told.text for told in mind.told_of(ReplyGrew)) == "0 1 "
    mind.told.clear()
    if after == "nothing more":
        mind.do(GetReady(()))
        assert model.closed == 1
        return
    following = Reply(2, mind.controls, text="1 ", aloud=True)
    following.rest_of = (cut, 2) if after == "its rest" else None
    mind.do(following)
    assert model.closed == 1
    written = "1 2 3 4 5 6 7 " if following.rest_of else "1 "
    assert "".join(told.text for told in mind.told_of(ReplyGrew)) == written
    assert {told.turn for told in mind.told_of(ReplyGrew)} == {2}
    assert following.written


def test_the_answer_to_a_learnt_sound_has_it_already(mind):
    mind.model.deltas = (LearnSound("Niamh", "neev"), "All right: Niamh.")
    mind.do(aloud(mind))
    assert [word.spoken for order in mind.said for word in order.words][-1] == "neev."
    assert ActionAsked(1, LearnSound("Niamh", "neev")) in mind.told


def test_a_server_that_loads_its_model_is_told_in_a_line(mind):
    mind.model.deltas = (StillLoading(), "Ten.")
    mind.do(aloud(mind))
    (notice,) = mind.told_of(Notice)
    assert "still loading" in notice.text


def test_a_remark_about_a_model_is_told_once(mind):
    mind.model.deltas = (Remark(Translatable("It has no head.")), "Ten.")
    dropped = Reply(1, mind.controls, asked=asked("hello"))
    mind.do(dropped)
    assert mind.told_of(Notice) == []
    for turn in (2, 3):
        mind.do(aloud(mind, turn))
    assert [notice.text for notice in mind.told_of(Notice)] == ["It has no head."]


def test_where_the_chosen_model_did_not_load_a_reply_names_the_reason(monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(worker_file, "Worker", HandWorker)
        mind = Mind(Unanswered(), "I can't answer that ", "without a language model.")

    def load(settings, progress):
        if settings.engine == "llama":
            raise ModelError("tiny has no chat template.", hint="Choose another.")
        return mind.model

    def reply():
        mind.told.clear()
        mind.do(Reply(1, mind.controls, asked=asked("hello"), paced=False, aloud=True))
        assert len(mind.told_of(ModelWanted)) == 1
        return "".join(told.text for told in mind.told_of(ReplyGrew))

    mind.worker._factories = replace(mind.worker._factories, language_model=load)
    assert reply() == "I can't answer that without a language model."
    mind.do(LanguageModelSettings(engine="llama"))
    assert reply() == "I can't answer that: tiny has no chat template."
    mind.do(LanguageModelSettings())
    assert reply() == "I can't answer that without a language model."


@pytest.fixture
def endless():
    """endless.worker loads for ever; endless.began tells that it began."""
    began, told = threading.Event(), queue.SimpleQueue()

    def load(settings, progress):
        """Of 'llama' it never ends, and of 'skills' at once."""
        while settings.engine == "llama":
            progress("Trying", None)
            began.set()
        return FakeLanguageModel("Yes.")

    factories = replace(FakeParts().factories(), language_model=load)
    worker = LanguageModelWorker(factories, told.put, lambda order: None, lambda: NOWHERE)
    worker.start()
    worker.post(LanguageModelSettings(engine="llama"))
    assert began.wait(10)
    yield SimpleNamespace(worker=worker, told=told)
    worker.stop(10)


def test_loading_is_given_up_for_another_model(endless):
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


def test_loading_is_not_given_up_for_what_applies_live():
    told: list[Fact | Event] = []
    model = FakeLanguageModel("Yes.")
    settings = LanguageModelSettings(engine="llama")
    warmer = replace(settings, temperature=1.5)

    def load(_: LanguageModelSettings, progress):
        worker.post(warmer)
        progress("Still loading", None)
        return model

    factories = replace(FakeParts().factories(), language_model=load)
    worker = LanguageModelWorker(factories, told.append, lambda order: None, lambda: NOWHERE)
    worker.post(settings)
    for chosen in (settings, warmer):
        worker._handle(chosen)
        worker._load_wanted()
    assert model.settings == warmer
    assert len([each for each in told if isinstance(each, Loading)]) == 2  # of one load
    assert not [each for each in told if isinstance(each, Failed)]


def test_loading_does_not_keep_the_thread_from_ending(endless):
    assert endless.worker.stop(10)


BEGAN = datetime(2026, 1, 5, tzinfo=UTC)
OTTERS = (Message(Role.USER, "What do otters eat?"), Message(Role.ASSISTANT, "Fish."))


def until_quiet(mind: Mind) -> float | None:
    """Run until it waits; returns for how long."""
    while (wait_s := mind.do()) == 0.0:
        pass
    return wait_s


def test_a_title_is_looked_for_once_when_nobody_has_spoken_for_a_while(mind):
    mind.model.deltas = ("Here it is:\n", '"What otters', ' eat."\n', "I hope", TIMER)
    mind.do(GetReady(OTTERS, title=BEGAN))
    assert until_quiet(mind) == QUIET_S
    assert mind.model.histories == []  # the person may still go on
    rest(mind)
    assert mind.told_of(Titled) == [Titled(BEGAN, "What otters eat")]
    assert mind.told_of(ActionAsked) == []
    assert mind.said == []
    assert mind.model.warmed[-1] == (
        "What do otters eat?",
        "Fish.",
    )  # ready for the next question again
    mind.do(LanguageModelSettings(system_prompt="Be brief."))
    rest(mind)
    assert len(mind.model.histories) == 1


def test_who_speaks_while_a_title_is_written_waits_for_one_delta_and_it_is_given_up(mind):
    mind.model.slices = 0
    mind.model.deltas = ("Greetings", " at", " noon")
    assert mind.do(GetReady(HISTORY, title=BEGAN)) == QUIET_S
    mind.do()
    mind.do(Rest())
    rest(mind)
    assert mind.model.given == 1
    assert mind.told_of(Titled) == []


@pytest.mark.parametrize("written", ["hello " * 30, "", "***", "\n\n", "The weather"])
def test_what_is_no_title_is_none(mind, written):
    mind.model.deltas = (written,)
    mind.do(GetReady(HISTORY, title=BEGAN))
    until_quiet(mind)
    rest(mind)
    assert mind.told_of(Titled) == [Titled(BEGAN, "")]


def test_the_skills_are_not_asked_for_a_title_nor_a_talk_that_wants_none(mind):
    mind.do(GetReady(HISTORY))
    rest(mind)
    mind.model.info = replace(mind.model.info, name="skills")
    mind.do(GetReady(HISTORY, title=BEGAN))
    rest(mind)
    assert mind.model.histories == []


def test_no_skill_takes_the_wish_for_a_title_for_its_own():
    assert not understands(TITLE_WANTED)
