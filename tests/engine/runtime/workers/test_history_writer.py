"""What is said reaches the file, whatever stands in the way, and nothing that should not."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from engine import api
from engine.history import schema
from engine.history.store import NAME, Store
from engine.runtime.turn.facts import ConversationRead, Fact, Titled
from engine.runtime.workers.history_writer import HistoryOrder, HistoryWriter, KeepTurn
from engine.settings import HistorySettings
from tests.engine.history.turns import BEGAN, talk, turn

DAY_S = 86_400.0


class Study:
    """A history writer without its thread: what is posted is handled at once."""

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self.now = 1000.0
        self.told: list[Fact | api.Event] = []
        self.history_writer = HistoryWriter(
            path, self.told.append, clock=lambda: self.now, now=lambda: self.now
        )
        self.ask(HistorySettings("forever"))

    def ask(self, *orders: HistoryOrder) -> None:
        worker = self.history_writer._worker
        for order in orders:
            worker.guarded(lambda order=order: worker._handle(order))  # type: ignore[misc]

    def say(self, number: int, said: str) -> None:
        self.ask(KeepTurn(BEGAN, turn(number, said, start_s=10.0 * number), self.now))

    def pass_s(self, seconds: float) -> None:
        self.now += seconds
        self.history_writer._worker.guarded(self.history_writer._tick)

    def of(self, kind: type) -> list:
        return [each for each in self.told if isinstance(each, kind)]

    def listed(self, search: str = "") -> api.ConversationsListed:
        self.ask(api.ListConversations(search))
        return self.of(api.ConversationsListed)[-1]

    def kept(self) -> list[list[str]]:
        """What was said, by conversation, as the file has it."""
        assert self.path is not None
        if not self.path.exists():
            return []
        with Store(self.path) as store:
            talks = [[each.said for each in store.read(number).turns] for number in store.ids()]
        return [each for each in talks if each]

    def end(self) -> None:
        self.history_writer._write_all()
        self.history_writer._close()


@pytest.fixture
def room(tmp_path: Path) -> Iterator[Study]:
    made = Study(tmp_path / NAME)
    yield made
    made.end()


def test_a_turn_that_goes_on_is_written_once_and_one_that_was_none_goes(room):
    room.ask(KeepTurn(BEGAN, replace(turn(1, "convert"), ending=None), room.now))
    room.ask(KeepTurn(BEGAN, replace(turn(1, ""), reply=""), room.now))  # it belonged to the next
    room.say(2, "convert ten miles")
    room.say(2, "convert ten miles")
    assert room.kept() == [["convert ten miles"]]


@pytest.mark.parametrize(
    ("first", "then", "kept"),
    [("ask", "ask", [["one"], ["two"]]), ("ask", "never", []), ("never", "never", [])],
)
def test_until_the_person_says_so_nothing_is_written_and_nothing_lost_that_is_wanted(
    room, first, then, kept
):
    room.ask(HistorySettings(first))
    room.say(1, "one")
    room.ask(HistorySettings(then), api.NewConversation())
    room.say(2, "two")
    assert room.listed().conversations == ()
    assert room.path is not None
    assert not room.path.exists()
    room.ask(HistorySettings("forever"))
    assert room.kept() == kept


def test_turns_of_one_conversation_are_kept_together_and_a_private_one_nowhere(room):
    room.say(1, "one")
    room.say(2, "two")
    room.ask(api.NewConversation(private=True))
    room.say(3, "secret")
    room.ask(api.NewConversation())
    room.say(4, "four")
    assert room.kept() == [["one", "two"], ["four"]]
    assert room.listed().current == 2
    assert room.of(api.Failed) == []
    assert room.path is not None
    assert not any(b"secret" in each.read_bytes() for each in room.path.parent.iterdir())


@pytest.mark.parametrize("named", [(1,), ()])
def test_deleting_the_present_conversation_begins_another_one(room, named):
    room.say(1, "one")
    room.ask(api.RemoveConversations(named))
    room.say(2, "still of the deleted one")
    assert room.of(api.NewConversation)
    assert room.kept() == []
    room.ask(api.NewConversation())
    room.say(3, "three")
    assert room.kept() == [["three"]]


def test_a_present_conversation_of_which_nothing_was_kept_ends_without_a_file(room):
    room.ask(HistorySettings("never"))
    room.say(1, "one")
    room.ask(api.RemoveConversations(()))
    assert room.of(api.NewConversation)
    assert not room.path.exists()


def test_what_is_older_than_a_month_goes_with_that_setting_only(room, tmp_path):
    with Store(tmp_path / NAME) as store:
        talk(store, "old", now=0.0)
        talk(store, "new", now=31 * DAY_S)
    room.now = 40 * DAY_S
    room.say(1, "today")
    assert len(room.kept()) == 3
    room.ask(HistorySettings("30 days"))
    assert room.kept() == [["new"], ["today"]]


def test_while_another_instance_writes_nobody_waits_and_nothing_is_lost(room, monkeypatch):
    monkeypatch.setattr(schema, "BUSY_S", 0.0)
    other = Study(room.path)
    other.say(1, "of the other")
    room.say(1, "one")
    store = other.history_writer._store
    assert store is not None
    with store._transaction():
        room.say(2, "two")
        for _ in range(5):
            room.pass_s(60.0)
        room.ask(api.NewConversation())
        room.say(3, "three")
        assert len(room.of(api.Failed)) == 1  # told once
        assert "another program" in room.of(api.Failed)[0].message
        assert len(room.listed().conversations) == 2  # reading goes on
    room.pass_s(60.0)
    assert room.kept() == [["of the other"], ["one", "two"], ["three"]]
    assert "again" in room.of(api.Notice)[-1].text
    assert other.of(api.Failed) == []
    other.end()


def test_a_full_disk_is_told_once_and_all_is_written_when_there_is_room(room):
    room.say(1, "one")
    assert room.history_writer._store is not None
    database = room.history_writer._store._database
    (pages,) = database.execute("PRAGMA page_count").fetchone()
    database.execute(f"PRAGMA max_page_count = {pages}").fetchone()
    for number in range(2, 6):
        room.say(number, "long " * 3000)
        room.pass_s(60.0)
    (fault,) = room.of(api.Failed)
    assert (fault.code, "the disk is full" in fault.message) == ("history", True)
    database.execute("PRAGMA max_page_count = 100000").fetchone()
    room.pass_s(60.0)
    assert [len(each) for each in room.kept()] == [5]


@pytest.mark.parametrize("when", ["before", "between"])
def test_a_damaged_file_is_set_aside_and_the_conversation_is_in_the_new_one(room, tmp_path, when):
    path = tmp_path / NAME
    if when == "before":
        path.write_bytes(b"no database at all " * 400)
    room.say(1, "one")
    if when == "between":
        room.end()
        path.write_bytes(b"no database at all " * 400)
    room.say(2, "two")
    assert room.kept() == [["one", "two"]]
    (fault,) = room.of(api.Failed)
    assert "damaged" in fault.message
    assert "conversations.damaged-1.sqlite" in fault.hint
    assert (tmp_path / "conversations.damaged-1.sqlite").read_bytes().startswith(b"no database")


def test_a_file_another_instance_replaced_is_noticed(room, tmp_path):
    room.say(1, "one")
    (tmp_path / NAME).rename(tmp_path / "elsewhere.sqlite")
    for tail in ("-wal", "-shm"):
        (tmp_path / (NAME + tail)).rename(tmp_path / ("elsewhere.sqlite" + tail))
    room.say(2, "two")
    assert room.kept() == [["one", "two"]]
    assert room.of(api.Failed) == []


def test_renaming_exporting_and_listing_as_many_as_there_is_room_for(room, monkeypatch, tmp_path):
    monkeypatch.setattr("engine.runtime.workers.history_writer.LISTED", 2)
    with Store(tmp_path / NAME) as store:
        for number in range(3):
            talk(store, f"question {number}", now=float(number))
    room.ask(api.RenameConversation(3, "Third question"))
    listed = room.listed("question")
    titles = [each.title for each in listed.conversations]
    assert (titles, listed.more) == (["Third question", "question 1"], True)
    room.ask(api.ExportConversations(tmp_path / "all.md"))
    assert "# Third question" in (tmp_path / "all.md").read_text()


@pytest.mark.parametrize(
    ("is_kept", "refusal"), [(True, "no conversation 9"), (False, "No conversations are kept here")]
)
def test_what_is_not_there_is_told(tmp_path, *, is_kept, refusal):
    room = Study(tmp_path / NAME if is_kept else None)
    room.say(1, "one")
    room.ask(api.OpenConversation(9))
    assert refusal in room.of(api.Failed)[0].message
    room.end()


def test_a_talk_is_dated_when_it_was_not_when_the_person_said_that_it_is_kept(tmp_path):
    room = Study(tmp_path / NAME)
    room.ask(HistorySettings("ask"))
    room.say(1, "first")
    room.ask(api.NewConversation())
    room.pass_s(DAY_S)
    room.say(1, "second")
    room.pass_s(3 * DAY_S)
    room.ask(HistorySettings("forever"))
    listed = [(each.title, each.last) for each in room.listed().conversations]
    assert listed == [("Second", 1000.0 + DAY_S), ("First", 1000.0)]
    room.end()


def test_turns_taken_out_of_a_conversation_leave_the_file_also_those_of_its_past(room):
    for number, said in enumerate(("one", "two", "three"), 1):
        room.say(number, said)
    room.ask(api.NewConversation(), api.OpenConversation(1))
    (read,) = [each for each in room.told if isinstance(each, ConversationRead)]
    room.ask(read)
    changes = len(room.of(api.ConversationsChanged))
    room.say(4, "two, edited")
    for turn_ in read.kept.turns[1:]:
        room.ask(KeepTurn(read.kept.began, replace(turn_, said="", reply=""), room.now))
    assert room.kept() == [["one", "two, edited"]]
    assert len(room.of(api.ConversationsChanged)) > changes


def test_a_title_goes_to_the_talk_it_was_made_for_and_to_none_that_is_not_kept(room):
    room.say(1, "about otters")
    room.ask(api.NewConversation(private=True), Titled(BEGAN, "Otters at play"))
    assert [each.title for each in room.listed().conversations] == ["Otters"]
    room.ask(api.NewConversation())
    room.say(1, "about whales")
    room.ask(Titled(BEGAN, "Songs of whales"))
    assert [each.title for each in room.listed().conversations] == ["Songs of whales", "Otters"]
