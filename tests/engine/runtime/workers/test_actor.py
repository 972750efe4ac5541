"""What actors have in common, on a worker run by hand."""

import pytest

from engine.errors import DeviceError, EngineError
from engine.messages.events import Event, Failed
from engine.runtime.turn.facts import Fact
from engine.runtime.workers import worker
from engine.runtime.workers.worker import Actor
from tests.engine.runtime.turn.test_replies import HandWorker


class Fussy(Actor[Exception]):
    """Raises what it is given, and notes that it let go of what it had."""

    released = False

    def _handle(self, message: Exception) -> None:
        raise message

    def _unknown(self, error: Exception) -> EngineError:
        return DeviceError("The fake failed: {error}", hint="Do without it.", error=error)

    def _release(self) -> None:
        self.released = True


@pytest.fixture(autouse=True)
def _by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "Worker", HandWorker)


def told_of(error: Exception) -> list[Fact | Event]:
    told: list[Fact | Event] = []
    fussy = Fussy("fussy", told.append)
    fussy.post(error)
    fussy._worker.run()
    return told


def test_a_fault_of_ours_is_told_as_it_is() -> None:
    assert told_of(EngineError("Nothing works.", hint="Rest.")) == [
        Failed("engine", "Nothing works.", "Rest.")
    ]


def test_an_unknown_error_is_told_in_the_words_of_the_actor_it_broke() -> None:
    assert told_of(KeyError("x")) == [Failed("device", "The fake failed: 'x'", "Do without it.")]


@pytest.mark.parametrize("ends", [True, False])
def test_what_it_owns_is_released_only_once_its_thread_has_ended(
    monkeypatch: pytest.MonkeyPatch, *, ends: bool
) -> None:
    monkeypatch.setattr(HandWorker, "stop", lambda self, timeout_s: ends, raising=False)
    fussy = Fussy("fussy", lambda told: None)
    assert fussy.stop(1.0) is ends
    assert fussy.released is ends
