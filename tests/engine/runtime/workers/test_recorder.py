"""Recording begins when asked, ends when asked or must, and never without being told."""

from pathlib import Path

import numpy as np
import pytest
import soundfile

from engine.audio.base import Played
from engine.messages.commands import Export, NewConversation, Record
from engine.messages.events import Event, Failed, Notice, RecordingChanged
from engine.runtime.workers import recorder as recorders
from engine.runtime.workers.recorder import Order, Recorder, Sink

RATE = 16_000
SECOND = np.full(RATE, 0.5, np.float32)
SILENT = Played(np.zeros(0, np.float32), RATE, more=False)


class Room:
    """A recorder without its thread: what is posted is handled at the next settle()."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
        monkeypatch.setenv("RUBATO_DATA", str(folder))
        self.now = 50.0
        self.events: list[Event] = []
        self.sink: Sink | None = None
        self.recorder = Recorder(self.events.append, self._overhear, clock=lambda: self.now)
        self.folder = folder / "recordings"

    def _overhear(self, sink: Sink | None) -> None:
        self.sink = sink

    def ask(self, order: Order) -> None:
        self.recorder.post(order)
        self.settle()

    def settle(self) -> None:
        worker = self.recorder._worker
        while (message := worker._take(0.0)) is not None:
            worker.guarded(lambda message=message: worker._handle(message))  # type: ignore[misc]

    def hear(self, seconds: int) -> None:
        for _ in range(seconds):
            self.now += 1.0
            if self.sink:
                self.sink(SECOND, RATE, SILENT)
            self.settle()

    def of(self, kind: type) -> list[Event]:
        return [event for event in self.events if isinstance(event, kind)]


@pytest.fixture
def room(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Room:
    return Room(monkeypatch, tmp_path)


def test_a_recording_is_told_when_it_begins_and_where_it_is_when_it_ends(room, tmp_path):
    room.hear(2)
    assert room.sink is None
    assert not room.folder.exists()  # nobody asked
    room.ask(Record(True))
    room.ask(Record(True))
    assert room.events == [RecordingChanged(True)]
    room.hear(3)
    room.ask(Export(tmp_path / "talk.wav"))
    assert soundfile.info(tmp_path / "talk.wav").duration == pytest.approx(3.0, abs=0.3)
    told = len(room.events)
    room.ask(Record(False))
    room.ask(Record(False))
    assert room.sink is None
    (file,) = room.folder.iterdir()
    assert room.events[told:] == [RecordingChanged(False), Notice(f"Recorded 0:03 in {file}")]
    assert soundfile.info(file).duration == pytest.approx(3.0, abs=0.01)
    assert [each.seconds for each in room.recorder.recorded] == [pytest.approx(3.0, abs=0.01)]


def test_a_new_conversation_has_a_file_of_its_own_even_in_the_same_second(room):
    room.ask(Record(True))
    room.hear(1)
    room.ask(NewConversation())
    assert room.sink is not None
    assert room.recorder.recorded == ()
    room.hear(2)
    room.ask(Record(False))
    lengths = sorted(soundfile.info(file).duration for file in room.folder.iterdir())
    assert lengths == pytest.approx([1.0, 2.0], abs=0.01)


@pytest.mark.parametrize(
    ("place", "limits", "fault"),
    [
        ("nowhere/mine.wav", {}, "could not be created"),
        (None, {"MOST_BYTES": 100_000}, "no room"),
        (None, {"longest_s": lambda folder, most: 1.0}, "no room"),
    ],
)
def test_without_a_place_and_room_it_does_not_begin(
    room, tmp_path, monkeypatch, place, limits, fault
):
    for name, limit in limits.items():
        monkeypatch.setattr(recorders, name, limit)
    room.ask(Record(True, place and tmp_path / place))
    assert room.of(RecordingChanged) == [RecordingChanged(False)]
    assert fault in room.of(Failed)[0].message  # type: ignore[attr-defined]
    assert room.sink is None


def test_it_ends_by_itself_when_the_room_is_used_up_and_keeps_the_file(room, monkeypatch):
    monkeypatch.setattr(recorders, "longest_s", lambda folder, most: 12.0)
    room.ask(Record(True))
    room.hear(20)
    assert room.of(RecordingChanged)[-1] == RecordingChanged(False)
    assert room.of(Failed)
    (file,) = room.folder.iterdir()
    assert soundfile.info(file).duration == pytest.approx(12.0, abs=1.1)


def test_a_disk_that_cannot_keep_up_ends_it_and_not_the_memory(room, monkeypatch):
    monkeypatch.setattr(recorders, "LATE_BLOCKS", 5)
    room.ask(Record(True))
    assert room.sink is not None
    for _ in range(50):  # and nothing is written meanwhile
        room.sink(SECOND, RATE, SILENT)
    room.settle()
    assert room.recorder._offered == 5
    assert "too slow" in room.of(Failed)[0].message  # type: ignore[attr-defined]
    assert room.of(RecordingChanged)[-1] == RecordingChanged(False)


def test_when_the_program_stops_the_file_gets_its_name(room):
    room.recorder.start()
    room.recorder.post(Record(True))
    assert room.recorder.stop(5.0)
    (file,) = room.folder.iterdir()
    assert file.suffix == ".wav"
    assert not file.name.startswith(".")
