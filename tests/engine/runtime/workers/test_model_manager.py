"""Models are fetched, checked, removed and chosen beside a conversation, whatever the hub does."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from engine import api
from engine.models import storage
from engine.models.servers import ServedModel
from engine.runtime.turn.facts import ModelChosen
from engine.runtime.workers import model_manager as module
from engine.runtime.workers.model_manager import ModelManager
from engine.settings import Settings, change
from tests.engine.assets.hub import Hub
from tests.engine.models.small_catalogue import FILE_BYTES
from tests.faults.whole import PATIENCE_S, Told


class Desk(Told):
    """A model manager with what it told; choices are in force as the conductor would have them."""

    def __init__(self) -> None:
        super().__init__()
        self.settings = Settings()
        self.model_manager = ModelManager(self._keep, lambda: self.settings)
        self.post = self.model_manager.post

    def _keep(self, event: object) -> None:
        if isinstance(event, ModelChosen):
            for key, value in event.changes:
                self.settings = change(self.settings, key, value)
        super()._keep(event)

    def settled(self, name: str, count: int = 1) -> api.ModelSettled:
        """The last word on a model, once there are so many."""
        self.wait(lambda: len([s for s in self.of(api.ModelSettled) if s.name == name]) >= count)
        return [s for s in self.of(api.ModelSettled) if s.name == name][-1]

    def entry(self, name: str) -> api.ModelEntry:
        lists = len(self.of(api.ModelsListed))
        self.post(api.ListModels())
        self.wait(lambda: len(self.of(api.ModelsListed)) > lists)
        return next(e for e in self.of(api.ModelsListed)[-1].entries if e.name == name)


@contextmanager
def working() -> Iterator[Desk]:
    desk = Desk()
    desk.model_manager.start()
    try:
        yield desk
    finally:
        assert desk.model_manager.stop(PATIENCE_S)


@pytest.fixture
def desk(hub: Hub) -> Iterator[Desk]:
    with working() as made:
        yield made


class Gate:
    """Holds the first fetch of qwen3-4b after a third of it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.reached, self.opened = threading.Event(), threading.Event()
        original = storage.fetch_all

        def held(asked: str, show: storage.ShowAll, cancelled: storage.Cancel) -> None:
            def stop_here(done: int, total: int) -> None:
                show(done, total)
                if asked == "qwen3-4b" and done > 100_000 and not self.reached.is_set():
                    self.reached.set()
                    self.opened.wait(PATIENCE_S)

            original(asked, stop_here, cancelled)

        monkeypatch.setattr(storage, "fetch_all", held)

    def fetch(self, desk: Desk, *others: str) -> None:
        desk.post(api.FetchModels(("qwen3-4b", *others)))
        assert self.reached.wait(PATIENCE_S)


def test_a_fetch_tells_how_far_it_is_and_what_was_fetched_can_be_verified(desk, data):
    desk.post(api.FetchModels(("qwen3-4b",)))
    assert not desk.settled("qwen3-4b").failed
    words = desk.of(api.ModelProgress)
    assert words[0].activity is api.Activity.WAITING
    assert not desk.model_manager.is_busy
    assert (words[-1].done_bytes, words[-1].total_bytes) == (FILE_BYTES, FILE_BYTES)
    assert desk.entry("qwen3-4b").state is api.Presence.COMPLETE
    assert desk.of(ModelChosen) == []
    desk.post(api.VerifyModel("qwen3-4b"))
    assert desk.settled("qwen3-4b", 2).text == "Every file is as it was fetched."
    (file,) = (data / "models" / "qwen3-4b").glob("*.gguf")
    file.write_bytes(bytes(FILE_BYTES))
    desk.post(api.VerifyModel("qwen3-4b"))
    settled = desk.settled("qwen3-4b", 3)
    assert (settled.failed, "has changed since" in settled.text) == (True, True)


def test_a_paused_fetch_keeps_what_is_there_and_is_resumed(desk, hub, monkeypatch):
    gate = Gate(monkeypatch)
    gate.fetch(desk)
    assert desk.model_manager.is_busy
    desk.post(api.PauseFetch("qwen3-4b"))
    gate.opened.set()
    assert desk.settled("qwen3-4b").text.startswith("Paused")
    assert desk.of(api.Failed) == []
    assert desk.entry("qwen3-4b").state is api.Presence.PARTIAL
    hub.requests.clear()
    desk.post(api.FetchModels(("qwen3-4b",)))
    assert not desk.settled("qwen3-4b", 2).failed
    assert desk.entry("qwen3-4b").state is api.Presence.COMPLETE
    (resumed,) = [request for request in hub.requests if request.startswith("GET")]
    assert "bytes=" in resumed


def test_pausing_all_drops_what_waits_too(desk, monkeypatch):
    gate = Gate(monkeypatch)
    gate.fetch(desk, "whisper-tiny")
    desk.post(api.PauseFetch())
    gate.opened.set()
    desk.settled("whisper-tiny")
    assert desk.entry("whisper-tiny").state is api.Presence.MISSING
    assert desk.entry("qwen3-4b").state is api.Presence.PARTIAL


def test_what_is_being_fetched_is_not_fetched_twice_nor_removed(desk, hub, monkeypatch):
    gate = Gate(monkeypatch)
    gate.fetch(desk)
    desk.post(api.RemoveModel("qwen3-4b"))
    assert "being fetched or removed" in desk.settled("qwen3-4b").text
    desk.post(api.FetchModels(("qwen3-4b",), use=True))
    gate.opened.set()
    desk.wait(lambda: desk.of(ModelChosen))
    assert len([request for request in hub.requests if request.startswith("GET")]) == 1


def test_who_hears_that_a_fetch_has_ended_may_give_the_next_order(desk, data, monkeypatch):
    hear = desk.model_manager._tell

    def order(message: object) -> None:
        hear(message)
        if isinstance(message, api.ModelSettled) and len(desk.of(api.ModelSettled)) == 1:
            desk.post(api.VerifyModel("qwen3-4b"))

    monkeypatch.setattr(desk.model_manager, "_tell", order)
    desk.post(api.FetchModels(("qwen3-4b",)))
    assert desk.settled("qwen3-4b", 2).text == "Every file is as it was fetched."


def test_a_recogniser_that_auto_means_is_used_once_it_is_here_and_then_not_removed(desk):
    desk.post(api.FetchModels(("whisper-base",)))
    assert not desk.settled("whisper-base").failed
    desk.wait(lambda: desk.of(ModelChosen))
    assert desk.of(ModelChosen)[0].changes[0] == ("recogniser.engine", "auto")
    desk.post(api.RemoveModel("whisper-base"))
    settled = desk.settled("whisper-base", 2)
    assert settled.failed
    assert settled.text.endswith(
        "is in use, so it stays. Use another model of its kind first, then remove this one."
    )
    assert desk.entry("whisper-base").in_use
    desk.post(api.UseModel("sphinx"))
    desk.settled("sphinx")
    desk.post(api.RemoveModel("whisper-base"))
    assert not desk.settled("whisper-base", 3).failed
    assert desk.entry("whisper-base").state is api.Presence.MISSING


def test_models_of_servers_are_rows_once_they_were_looked_for(desk, monkeypatch):
    served = (ServedModel("ollama", "phi", "http://127.0.0.1:11434/v1"),)
    monkeypatch.setattr(module, "find_served", lambda: served)
    desk.post(api.ListModels(servers=True))
    desk.wait(lambda: desk.of(api.ModelsListed))
    assert desk.entry("ollama/phi").origin is api.Origin.SERVER
    desk.post(api.UseModel("ollama/phi"))
    desk.settled("ollama/phi")
    assert desk.settings.language_model.address == "http://127.0.0.1:11434/v1"
    assert desk.entry("ollama/phi").in_use


def test_a_name_that_is_none_is_told(desk):
    desk.post(api.FetchModels(("qwen9",)))
    assert "no model called" in desk.settled("qwen9").text
    desk.post(api.UseModel("qwen9"))
    assert desk.settled("qwen9", 2).failed


class Watched(set[str]):
    """A set to which another thread adds a name during each call."""

    def __sub__(self, other: object) -> set[str]:
        left = set(self) - other  # type: ignore[operator]
        self.add("added meanwhile")
        return left

    def discard(self, name: str) -> None:
        super().discard(name)
        self.add("added meanwhile")


def test_a_model_that_is_wanted_while_another_is_given_up_stays_wanted():
    manager = ModelManager(lambda event: None, Settings)
    manager._wanted = Watched({"a", "b"})
    manager.post(api.PauseFetch("a"))
    assert manager._wanted == {"b", "added meanwhile"}
