"""What is kept is read again as it was; what is deleted is gone from the disk."""

import functools
import json
import sqlite3
import stat
import sys
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest

from engine.errors import HistoryError, InvalidInput
from engine.history import schema
from engine.history.faults import Damaged, set_aside
from engine.history.store import NAME, Place, Store, write_all
from engine.history.subject import shorten
from engine.messages.conversations import HeardWord
from engine.messages.words import Ending
from tests.engine.history.turns import BEGAN, talk, turn


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(tmp_path / "data" / NAME) as opened:
        yield opened


def titles(store: Store, search: str = "") -> list[str]:
    return [each.title for each in store.listing(search)]


def test_a_turn_is_read_as_it_was_kept_and_an_open_one_is_marked_until_it_ends(store):
    whole = turn(1, "does it rain?", start_s=2.5)
    place = store.keep(replace(whole, ending=None, reply="", heard="", words=()), BEGAN, 1000.0)
    assert store.read(place.conversation).turns[0].ending is None
    assert store.keep(whole, BEGAN, 1001.0, place) == place
    read = store.read(place.conversation)
    assert (read.began, read.turns, read.title) == (BEGAN, (whole,), "Rain")
    if sys.platform != "win32":  # it has no such modes
        modes = {stat.S_IMODE(file.stat().st_mode) for file in store.path.parent.iterdir()}
        assert modes == {0o600}  # only its owner may read it
    store.drop(place)  # it was none
    assert store.listing() == ()


def test_turns_are_in_their_order_and_one_of_a_deleted_conversation_begins_another(store):
    late = store.keep(turn(2, "second", start_s=20.0), BEGAN, 1000.0)
    store.keep(turn(1, "first", start_s=10.0), BEGAN, 1000.0, Place(late.conversation, 0))
    assert [each.said for each in store.read(late.conversation).turns] == ["first", "second"]
    store.remove([late.conversation])
    again = store.keep(turn(2, "second, longer"), BEGAN, 1001.0, late)
    assert again.conversation != late.conversation
    assert titles(store) == ["Second, longer"]


def test_the_newest_conversation_is_listed_first_and_old_ones_go_but_for_the_present_one(store):
    present = talk(store, "old", now=10.0)
    new = talk(store, "new", "and more", now=99.0)
    listed = [(each.title, each.turns, each.last) for each in store.listing()]
    assert listed == [("New", 2, 99.0), ("old", 1, 10.0)]
    assert len(store.listing(most=1)) == 1
    talk(store, "older", now=5.0)
    assert store.remove_before(50.0, besides=present) == 1
    assert store.ids() == (present, new)


CAFE, SURE = "Where is the Café?", "Is 100 percent_sure enough"
FOUND = {
    "cafe": (CAFE,),
    "CAFÉ rains": (CAFE,),  # one said, one answered
    "caf berlin": (CAFE,),  # in different turns, and a word that was begun
    '"cafe': (CAFE,),
    "100%": (SURE,),
    **dict.fromkeys(("", "   "), (SURE, CAFE)),
    **dict.fromkeys(("cafe london", "cafe AND", "NEAR(cafe", "said:cafe*", "%", "-- ;", "\0"), ()),
    "where's": (),  # the s is looked for too
}


def test_what_a_person_types_is_looked_for_as_words(store):
    for said, now in ((CAFE, 1000.0), (SURE, 2000.0)):
        number = talk(store, said, *(["In Berlin?"] if said is CAFE else []), now=now)
        store.rename(number, said)
    assert {search: tuple(titles(store, search)) for search in FOUND} == FOUND


def test_what_was_found_is_shown_with_what_stands_around_it(store):
    talk(store, "hello", "word " * 100 + "the Ünique one " + "word " * 100)
    (found,) = store.listing("unique")
    assert "the Ünique one" in found.excerpt
    assert found.excerpt.startswith("…")
    assert len(found.excerpt) < 100


def test_a_new_name_is_listed_and_found_and_an_empty_one_gives_the_subject_back(store):
    number = talk(store, "does it rain?")
    store.rename(number, "  Weather\nof today ")
    assert titles(store, "weather") == ["Weather of today"]
    store.rename(number, "")
    assert titles(store) == ["Rain"]
    assert titles(store, "weather") == []
    with pytest.raises(InvalidInput, match="no conversation 99"):
        store.rename(99, "x")


def test_a_talk_is_called_after_its_subject_and_a_model_never_renames_what_a_person_named(store):
    number = talk(store, "hello", "How does a heat pump work?", "And in winter?")
    assert titles(store) == [store.read(number).title] == ["Heat pump"]
    store.suggest(number, "Heat pumps at home")
    store.suggest(number, "Something else")
    assert titles(store) == ["Heat pumps at home"]
    store.rename(number, "Mine")
    store.suggest(number, "Something else")
    assert titles(store) == ["Mine"]
    assert titles(store, "mine winter") == ["Mine"]
    talk(store, "hello", "thanks")
    assert "hello" in titles(store)  # without a subject, the first words


def test_what_is_deleted_is_nowhere_on_the_disk(store):
    kept = talk(store, "does it rain?")
    secret = talk(store, "my secret is Rumpelstiltskin", "and Rapunzel too")
    store.rename(secret, "About Dornroeschen")
    assert store.remove([secret, 99]) == 1
    for file in store.path.parent.iterdir():
        content = file.read_bytes().lower()
        assert not any(name in content for name in (b"rumpel", b"rapunzel", b"dornr")), file
    assert titles(store) == ["Rain"]
    with pytest.raises(InvalidInput):
        store.read(secret)
    assert talk(store, "later") > secret > kept  # a number is never given again


class WithoutFullText(sqlite3.Connection):
    """SQLite as it is where FTS5 was left out."""

    def execute(self, query: str, *values: object) -> sqlite3.Cursor:
        return super().execute(query.replace("fts5", "absent"), *values)


def test_an_sqlite_without_full_text_search_is_told_and_the_file_left_as_it_is(store, monkeypatch):
    talk(store, "does it rain?")
    with monkeypatch.context() as patched:
        lacking = functools.partial(sqlite3.connect, factory=WithoutFullText)
        patched.setattr(sqlite3, "connect", lacking)
        for path in (store.path, store.path.with_name("new.sqlite")):
            with pytest.raises(HistoryError, match="FTS5") as raised:
                Store(path)
            assert not isinstance(raised.value, Damaged)
    assert titles(store, "rain") == ["Rain"]


@pytest.mark.parametrize("content", [b"no database " * 500, b"SQLite format 3\0" + b"\xff" * 5000])
def test_what_is_no_database_is_told_and_set_aside_and_a_newer_one_left_as_it_is(tmp_path, content):
    path = tmp_path / NAME
    path.write_bytes(content)
    with pytest.raises(Damaged) as raised:
        Store(path)
    aside = set_aside(path, raised.value.file)
    assert (tmp_path / aside).read_bytes() == content
    with Store(path) as store:
        talk(store, "does it rain?")
        assert set_aside(path, raised.value.file) == ""  # another file by now
        assert store.is_in_place
    with closing(sqlite3.connect(path)) as database:
        database.execute(f"PRAGMA user_version = {schema.VERSION + 1}")
    before = path.read_bytes()
    with pytest.raises(HistoryError, match="newer version") as newer:
        Store(path)
    assert not isinstance(newer.value, Damaged)
    assert path.read_bytes()[100:] == before[100:]  # the journal's mode may stand in the head


def test_pages_that_were_overwritten_are_found_out(tmp_path):
    path = tmp_path / NAME
    with Store(path) as store:
        for number in range(200):
            talk(store, f"question {number} " * 20)
    with path.open("r+b") as file:
        file.seek(40_000)
        file.write(b"\xa5" * 60_000)
    with pytest.raises(Damaged), Store(path) as store:
        store.check()


def test_values_that_do_not_fit_give_way_and_the_text_stays(store):
    number = talk(store, "does it rain?")
    for column, value in (
        ("words", '[["It", 0, 2], 7]'),
        ("metrics", '{"heard_ms": "soon", "alien": 3}'),
        ("ending", "eaten by a dog"),
        ("rate", "fast"),
    ):
        store._database.execute(f"UPDATE turn SET {column} = ?", (value,))
    store._database.execute("UPDATE conversation SET began = 'yesterday'")
    (read,) = store.read(number).turns
    assert (read.said, read.reply) == ("does it rain?", "It rains. Or not.")
    assert (read.words, read.ending, read.rate) == ((), Ending.FAILED, None)
    assert read.metrics.heard_ms is None
    assert store.listing()[0].began == 0.0


@pytest.mark.parametrize(
    ("table", "column", "value"),
    [
        ("conversation", "last", "yesterday"),
        ("conversation", "last", 1e300),
        ("conversation", "last", -5),
        ("conversation", "last", float("inf")),
        ("conversation", "began", "9999-12-31T23:59:59+00:00"),
        ("conversation", "began", b"\xff\x00"),
        ("conversation", "title", b"\xff"),
        ("turn", "start_s", 1e300),
        ("turn", "start_s", float("inf")),
        ("turn", "said_end_s", float("-inf")),
        ("turn", "words", '[["It", 0, 2, 1e999, "nan"]]'),
        ("turn", "metrics", '{"heard_ms": 1e999}'),
        ("turn", "reply", b"\xff\xfe"),
    ],
)
def test_one_damaged_value_keeps_nothing_from_being_listed_and_shown(store, table, column, value):
    talk(store, "does it rain?")
    number = talk(store, "and tomorrow?")
    store._database.execute(
        f"UPDATE {table} SET {column} = ? WHERE {'id' if table != 'turn' else 'conversation'} = ?",
        (value, number),
    )
    listed = store.listing()
    assert {each.id for each in listed} == {1, number}
    for each in listed:
        datetime.fromtimestamp(each.last).astimezone()
    assert store.listing("tomorrow")[0].id == number
    json.loads(store.text(number, as_json=True), parse_constant=pytest.fail)
    assert "and tomorrow?" in store.text(number)


def test_a_text_that_is_not_utf_8_is_read_with_signs_in_its_place(store):
    number = talk(store, "does it rain?")
    store._database.execute("UPDATE turn SET reply = CAST(x'5965FF73' AS TEXT)")
    assert store.listing()[0].id == number
    assert store.read(number).turns[0].reply == "Ye\ufffds"


@pytest.mark.parametrize("number", [10**20, -(10**20), 2**63, 0])
def test_a_number_that_no_conversation_has_is_told(store, number):
    for act in (store.read, lambda number: store.rename(number, "x")):
        with pytest.raises(InvalidInput, match=f"no conversation {number}"):
            act(number)


def test_a_conversation_of_which_no_turn_is_left_is_gone(store):
    talk(store, "does it rain?")
    place = store.keep(turn(1, "what"), BEGAN, 1000.0)
    store.drop(place)
    assert store.ids() == tuple(each.id for each in store.listing()) == (1,)
    again = store.keep(turn(1, "what time is it?"), BEGAN, 1000.0, place)
    assert again.conversation != place.conversation
    assert len(store.listing()) == len(store.ids()) == 2


def test_half_a_character_does_not_keep_a_turn_from_being_kept(store):
    word = HeardWord("It\ud83c", 0, 3, 1.5, 1.75)
    place = store.keep(replace(turn(1, "broken \ud800 here"), words=(word,)), BEGAN, 1000.0)
    store.rename(place.conversation, "half \udf89")
    read = store.read(place.conversation)
    assert read.turns[0].said == "broken \ufffd here"
    assert read.turns[0].words[0].text == "It\ufffd"
    assert read.title == "half \ufffd"


def test_every_conversation_is_in_the_file_under_its_name(tmp_path):
    with Store(tmp_path / NAME) as store:
        talk(store, "does it rain?")
        store.rename(talk(store, "and tomorrow?"), "Later # on")
        for suffix in (".txt", ".md"):
            assert write_all(store, tmp_path / f"all{suffix}") == 2
            text = (tmp_path / f"all{suffix}").read_text(encoding="utf-8")
            assert text.index("does it rain?") < text.index("Later") < text.index("and tomorrow?")
        write_all(store, tmp_path / "all.JSON")
        whole = json.loads((tmp_path / "all.JSON").read_text(encoding="utf-8"))
        assert [each["title"] for each in whole["conversations"]] == ["Rain", "Later # on"]
        assert whole["conversations"][0]["turns"][0]["words"][1]["text"] == "rains"
        assert whole["conversations"][0]["turns"][0]["voice"] == "Ada"


def test_what_cannot_be_written_is_told_and_leaves_no_file(tmp_path):
    with Store(tmp_path / NAME) as store:
        with pytest.raises(InvalidInput, match="No conversation"):
            write_all(store, tmp_path / "all.txt")
        talk(store, "does it rain?")
        with pytest.raises(InvalidInput, match=r"saved as '\.srt'"):
            write_all(store, tmp_path / "all.srt")
        with pytest.raises(InvalidInput, match="cannot be written"):
            write_all(store, tmp_path / "nowhere" / "all.txt")
    assert not list(tmp_path.glob("*all*"))
    assert not list(tmp_path.glob(".rubato*"))


def test_a_word_is_found_where_it_begins_only_and_a_long_text_is_cut(store):
    talk(store, "Berlin", "a\nlinden tree")
    assert [each.excerpt for each in store.listing("lin")] == ["a linden tree"]
    assert shorten("one  two\nthree", 20) == "one two three"
    assert shorten("one two three", 8) == "one two…"


def test_another_instance_that_writes_is_waited_for_and_then_told(store, monkeypatch):
    monkeypatch.setattr(schema, "BUSY_S", 0.0)
    talk(store, "does it rain?")
    with Store(store.path) as other:
        with store._transaction():
            assert titles(other) == ["Rain"]  # readers are never kept waiting
            with pytest.raises(HistoryError, match="another program is using"):
                talk(other, "and now?")
        talk(other, "and now?")
    assert len(titles(store)) == 2


def test_a_full_disk_is_told_and_leaves_what_was_there(store):
    talk(store, "does it rain?")
    (pages,) = store._database.execute("PRAGMA page_count").fetchone()
    store._database.execute(f"PRAGMA max_page_count = {pages}").fetchone()
    with pytest.raises(HistoryError, match="the disk is full"):
        talk(store, "long " * 5000)
    assert titles(store) == ["Rain"]
    store._database.execute("PRAGMA max_page_count = 100000").fetchone()
    talk(store, "short again")
    store.check()
    with pytest.raises(HistoryError, match="cannot be kept"):
        Store(store.path / NAME)  # a file is in the way of its folder
