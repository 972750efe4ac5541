"""A thread with an inbox, and a part that is loaded on it."""

import threading
from collections.abc import Callable
from types import SimpleNamespace

import psutil
import pytest

from engine.errors import Cancelled, DeviceError, EngineError, ModelError
from engine.messages.events import Event, Failed, Loading, Ready
from engine.messages.words import Part
from engine.runtime.turn.facts import Fact
from engine.runtime.workers import worker as module
from engine.runtime.workers.loaded_part import LoadedPart
from engine.runtime.workers.worker import Actor, Worker
from engine.settings import LanguageModelSettings
from tests.engine.runtime.by_hand import HandWorker


def nothing() -> None:
    """No tick is wanted."""


def made(
    handle: Callable[[int], object] = lambda number: None,
    tick: Callable[[], float | None] = nothing,
    report: Callable[[Exception], None] = lambda error: None,
) -> Worker[int]:
    return Worker("the worker", handle=handle, tick=tick, report=report)


def test_messages_are_handled_in_order_on_a_thread_of_its_name_and_faults_reported():
    seen: list[tuple[float, str]] = []
    faults: list[Exception] = []
    worker = made(
        lambda number: seen.append((100 / number, threading.current_thread().name)),
        report=faults.append,
    )
    worker.start()
    for number in (5, 0, 4):
        worker.post(number)
    assert worker.stop(5.0)
    assert seen == [(20, "the worker"), (25, "the worker")]
    assert [type(fault) for fault in faults] == [ZeroDivisionError]


def test_a_tick_that_fails_again_and_again_is_tried_ever_more_seldom():
    broken = True

    def tick() -> None:
        if broken:
            raise ZeroDivisionError

    worker = made(tick=tick)
    waits = [worker.guarded(worker._tick_well) for _ in range(20)]
    assert waits[:3] == [0.05, 0.1, 0.2]
    assert waits[-1] == 10.0
    broken = False
    worker.guarded(worker._tick_well)
    broken = True
    assert worker.guarded(worker._tick_well) == 0.05


class Fussy(Actor[Exception]):
    """Raises what it is given, and notes that it let go of what it had."""

    released = False

    def _handle(self, message: Exception) -> None:
        raise message

    def _unknown(self, error: Exception) -> EngineError:
        return DeviceError("The fake failed: {error}", hint="Do without it.", error=error)

    def _release(self) -> None:
        self.released = True


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (EngineError("Nothing works.", hint="Rest."), Failed("engine", "Nothing works.", "Rest.")),
        (KeyError("x"), Failed("device", "The fake failed: 'x'", "Do without it.")),
    ],
)
def test_a_fault_is_told_as_it_is_or_in_the_words_of_the_actor_it_broke(monkeypatch, error, told):
    monkeypatch.setattr(module, "Worker", HandWorker)
    heard: list[Fact | Event] = []
    fussy = Fussy("fussy", heard.append)
    fussy.post(error)
    fussy._worker.run()
    assert heard == [told]


@pytest.mark.parametrize("ends", [True, False])
def test_what_it_owns_is_released_only_once_its_thread_has_ended(monkeypatch, *, ends):
    monkeypatch.setattr(module, "Worker", HandWorker)
    monkeypatch.setattr(HandWorker, "stop", lambda self, timeout_s: ends, raising=False)
    fussy = Fussy("fussy", lambda told: None)
    assert fussy.stop(1.0) is ends
    assert fussy.released is ends


BIG = 10**18  # bytes: more than any machine has


class Model:
    def __init__(self, settings: LanguageModelSettings) -> None:
        self.info = SimpleNamespace(name=settings.model or settings.engine)
        self.settings = settings
        self.closed = False

    def adjust(self, settings: LanguageModelSettings) -> None:
        if settings.system_prompt == "impossible":
            raise ModelError("That cannot be.")
        self.settings = settings

    def close(self) -> None:
        self.closed = True


class Bench:
    """A loaded part, and everything that happened to it."""

    def __init__(self, *, size_bytes: int = 0) -> None:
        self.told: list[Fact | Event] = []
        self.made: list[Model] = []
        self.open_at_load: list[list[str]] = []  # models in memory, for each load
        self.passing: list[Exception] = []
        self.refused: set[str] = set()  # models that do not load
        self.part: LoadedPart[LanguageModelSettings, Model] = LoadedPart(
            Part.LANGUAGE_MODEL,
            self.told.append,
            load=self._load,
            use=lambda model, settings: model.adjust(settings) or "detail",
            size_bytes=lambda settings: size_bytes,
            stand_in=LanguageModelSettings(),
        )

    def take(self, model: str, **others: object) -> None:
        self.part.load_or_adjust(LanguageModelSettings(engine="llama", model=model, **others))

    @property
    def running(self) -> str:
        return self.part.now.info.name

    def of(self, kind: type) -> list:
        return [each for each in self.told if isinstance(each, kind)]

    def _load(self, settings: LanguageModelSettings, progress: object) -> Model:
        self.open_at_load.append([made.info.name for made in self.made if not made.closed])
        if self.passing:
            raise self.passing.pop()
        if settings.model in self.refused:
            raise ModelError(f"{settings.model} does not load.")
        if settings.model == "given up":
            raise Cancelled("Another was chosen.")
        self.made.append(Model(settings))
        return self.made[-1]


def test_what_applies_live_is_handed_over_without_loading():
    bench = Bench()
    bench.take("one")
    bench.take("one", temperature=0.1, system_prompt="Be brief.")
    bench.take("one", address="http://127.0.0.1:1/v1")  # of no concern to the engine in use
    assert len(bench.made) == 1
    assert bench.of(Loading) == [Loading(Part.LANGUAGE_MODEL, "Loading llama")]
    bench.take("one", temperature=0.1, system_prompt="Be brief.")
    assert bench.part.now.settings.temperature == 0.1
    assert bench.part.now.settings.system_prompt == "Be brief."


def test_what_is_chosen_in_vain_is_told_and_leaves_what_runs():
    bench = Bench()
    bench.take("one")
    before = bench.part.now.settings
    bench.take("one", system_prompt="impossible")
    bench.refused = {"two"}
    bench.take("two")
    told = [failed.message for failed in bench.of(Failed)]
    assert told == ["That cannot be.", "two does not load."]
    assert bench.part.now.settings == before
    assert (bench.running, len(bench.made), bench.made[0].closed) == ("one", 1, False)


@pytest.mark.parametrize(("free", "beside"), [(99, []), (100, ["one"])])
def test_the_one_in_use_is_released_first_only_where_the_files_are_bigger_than_free_memory(
    free, beside, monkeypatch
):
    monkeypatch.setattr(psutil, "virtual_memory", lambda: SimpleNamespace(available=free))
    bench = Bench(size_bytes=100)
    bench.take("one")
    bench.take("two")
    assert bench.open_at_load == [[], beside]
    assert [made.closed for made in bench.made] == [True, False]
    assert bench.running == "two"


@pytest.mark.parametrize(("refused", "running"), [(["two"], "one"), (["two", "one"], "skills")])
def test_one_that_was_released_in_vain_is_loaded_again_or_stood_in_for(refused, running):
    bench = Bench(size_bytes=BIG)
    bench.take("one", temperature=0.2)
    bench.refused = set(refused)
    bench.take("two")
    assert bench.running == running
    assert bench.part.now.settings.temperature == (0.2 if running == "one" else 0.7)
    told = [failed.message for failed in bench.of(Failed)]
    assert told == [f"{name} does not load." for name in refused]
    assert bench.of(Ready)[-1].instead  # the fault is still there


def test_giving_up_leaves_what_runs_and_the_next_choice_is_told_as_ready():
    bench = Bench()
    bench.take("one")
    with pytest.raises(Cancelled):
        bench.take("given up")
    bench.take("one")
    assert isinstance(bench.told[-1], Ready)  # or "Loading" would be shown for ever
    assert (len(bench.made), bench.running) == (1, "one")


def test_what_a_library_raised_in_passing_is_tried_again():
    for error in (ImportError("partially initialized"), KeyError("openai"), RuntimeError("once")):
        bench = Bench()
        bench.passing = [error]
        bench.take("one")
        assert bench.running == "one"
        assert bench.of(Failed) == []
    bench = Bench()
    bench.passing = [ImportError("no"), ImportError("no")]
    bench.take("one")
    assert (len(bench.of(Failed)), bench.passing) == (1, [])  # told after two tries
    assert [ready.instead for ready in bench.of(Ready)] == [True]  # of what stands in
