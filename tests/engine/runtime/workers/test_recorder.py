"""A clip begins when asked, ends when asked or must, and each fault is reported once."""

from pathlib import Path

import numpy as np
import pytest

from engine.messages.commands import AddVoice
from engine.messages.events import Event, Failed
from engine.messages.voices import ClipRecording, DropClip, RecordClip
from engine.runtime.turn.facts import Fact
from engine.runtime.workers.recorder import Recorder, RecorderOrder, Sink

RATE = 16_000
SECOND = np.full(RATE, 0.5, np.float32)


class Room:
    """A recorder without its thread: what is posted is handled at the next settle()."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
        monkeypatch.setenv("RUBATO_DATA", str(folder))
        self.events: list[Event | Fact | AddVoice] = []
        self.sink: Sink | None = None
        self.recorder = Recorder(self.events.append, self._tap, self.events.append)
        self.folder = folder / "takes"

    def _tap(self, sink: Sink | None) -> None:
        self.sink = sink

    def ask(self, order: RecorderOrder) -> None:
        self.recorder.post(order)
        self.settle()

    def settle(self) -> None:
        worker = self.recorder._worker
        while (message := worker._take(0.0)) is not None:
            worker.guarded(lambda message=message: worker._handle(message))  # type: ignore[misc]

    def hear(self, seconds: int) -> None:
        for _ in range(seconds):
            if self.sink:
                self.sink(SECOND, RATE)
            self.settle()


@pytest.fixture
def room(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Room:
    return Room(monkeypatch, tmp_path)


def test_a_clip_is_recorded_while_it_is_asked_for(room):
    room.hear(2)
    assert not room.folder.exists()
    room.ask(RecordClip(on=True))
    room.ask(RecordClip(on=True))
    assert room.events == [ClipRecording(True)]
    room.hear(3)
    room.ask(RecordClip(on=False))
    (file,) = room.folder.iterdir()
    assert room.events[-2:] == [ClipRecording(False, 3.0), AddVoice(file)]
    assert room.sink is None
    room.ask(DropClip())
    assert list(room.folder.iterdir()) == []


def test_a_folder_where_nothing_may_be_written_is_reported_once(room, monkeypatch):
    room.ask(RecordClip(on=True))

    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("tempfile.mkstemp", refuse)
    room.hear(5)
    begun, ended = room.events
    assert begun == ClipRecording(True)
    assert isinstance(ended, ClipRecording)
    assert not ended.on
    assert "could not be created" in ended.ended_by
    assert room.sink is None


def test_a_folder_that_cannot_be_made_is_reported_once(room):
    room.folder.write_bytes(b"a file stands in its place")
    room.ask(RecordClip(on=True))
    room.hear(2)
    ended, fault = room.events
    assert ended == ClipRecording(False)
    assert isinstance(fault, Failed)
    assert "cannot be made" in fault.message
