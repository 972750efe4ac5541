"""Conversations in their file: keep, list, search, read, rename, delete, and write into another.

Invariant: one thread at a time uses a Store. Every change is one transaction. The file and what
SQLite lays beside it are their owner's alone (0600), and what was deleted is in none of them.
"""

import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Self

from engine import settings_file
from engine.characters import whole
from engine.errors import InvalidInput
from engine.export import documents
from engine.export.conversation import Conversation, Turn
from engine.export.documents import write_texts
from engine.history import schema
from engine.history.faults import Damaged, Identity, identity, told
from engine.history.folding import excerpt, shortened, terms
from engine.history.subject import subject
from engine.messages.conversations import KeptConversation
from engine.translatable import Translatable

NAME = "conversations.sqlite"  # in the data folder
LISTED = 500  # conversations of a list; older ones are found by a search
LONGEST_TITLE = 120  # characters
_EPOCH, _LATEST = datetime.fromtimestamp(0, UTC), datetime(3000, 1, 1, tzinfo=UTC)
_FIRST_WORDS = 60  # characters of a title made of the first question
_QUESTIONS = 6  # that a subject is looked for in
# Takes a word twice; selects the conversations that have it.
_MATCHING = """SELECT conversation FROM turn WHERE id IN
    (SELECT rowid FROM turn_words WHERE turn_words MATCH ?) UNION
    SELECT rowid FROM conversation_words WHERE conversation_words MATCH ?"""
_REMOVE_EMPTY = "DELETE FROM conversation WHERE id NOT IN (SELECT conversation FROM turn)"
_NAMED = f"""title, (SELECT group_concat(said, char(30)) FROM
    (SELECT said FROM turn WHERE conversation = c.id AND said <> '' ORDER BY start_s, id
    LIMIT {_QUESTIONS})) AS questions"""


def default_path() -> Path:
    """Where conversations are kept."""
    return settings_file.data_folder() / NAME


@dataclass(frozen=True)
class Place:
    """Where a turn was kept."""

    conversation: int
    row: int


class Store:
    """The file, open."""

    def __init__(self, path: Path) -> None:
        """Makes the file if there is none. Damaged or HistoryError when it cannot be used."""
        self.path = path
        self.file: Identity | None = None
        try:
            with told(path):
                _make(path)
                self.file = identity(path)
                self._database = schema.connect(str(path))
        except Damaged as fault:
            fault.file = self.file
            raise
        self._database.row_factory = sqlite3.Row
        self._database.text_factory = lambda text: text.decode("utf-8", "replace")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._database.close()

    @property
    def is_in_place(self) -> bool:
        """Whether the file at the path is still this one: another instance may set it aside."""
        return identity(self.path) == self.file

    # ------------------------------------------------------------------ keeping

    def keep(self, turn: Turn, began: datetime, at: float, place: Place | None = None) -> Place:
        """Write a turn: the one at `place` again if it is still there, else one more; of that
        conversation, or (None, or it was deleted) of a new one that `began` then. `at`: when it
        was said, in seconds since 1970.
        """
        with self._changing() as database:
            conversation = self._conversation(place, began, at)
            row = place.row if place is not None and place.conversation == conversation else 0
            names = ", ".join(schema.COLUMNS)
            marks = ", ".join("?" * len(schema.COLUMNS))
            changed = database.execute(
                f"UPDATE turn SET ({names}) = ({marks}) WHERE id = ?", (*schema.values(turn), row)
            )
            if not changed.rowcount:
                added = database.execute(
                    f"INSERT INTO turn (conversation, {names}) VALUES (?, {marks})",
                    (conversation, *schema.values(turn)),
                )
                row = added.lastrowid or 0
        return Place(conversation, row)

    def drop(self, place: Place) -> None:
        """Take a turn back that turned out to be none."""
        with self._changing() as database:
            database.execute("DELETE FROM turn WHERE id = ?", (place.row,))
            database.execute(_REMOVE_EMPTY)

    def rename(self, conversation: int, title: str) -> None:
        """Empty: called after its subject. InvalidInput when there is none such."""
        with self._changing() as database:
            changed = database.execute(
                "UPDATE conversation SET title = ? WHERE id = ?",
                (whole(shortened(title, LONGEST_TITLE)), _checked(conversation)),
            )
        if not changed.rowcount:
            raise _unknown(conversation)

    def suggest(self, conversation: int, title: str) -> None:
        """Give it this title, unless a person gave it one."""
        with self._changing() as database:
            database.execute(
                "UPDATE conversation SET title = ? WHERE id = ? AND title = ''",
                (whole(shortened(title, LONGEST_TITLE)), conversation),
            )

    def remove(self, conversations: Sequence[int]) -> int:
        """Delete them for good; returns how many there were."""
        with self._changing() as database:
            removed = 0
            for each in map(_checked, conversations):
                database.execute("DELETE FROM turn WHERE conversation = ?", (each,))
                gone = database.execute("DELETE FROM conversation WHERE id = ?", (each,))
                removed += gone.rowcount
            database.execute(_REMOVE_EMPTY)
            if removed:
                schema.tidy_index(database)
        with told(self.path):  # the journal still holds what was there before
            database.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        return removed

    def remove_before(self, at: float, besides: int | None = None) -> int:
        """Delete what nothing was added to since `at` (seconds since 1970); returns how many."""
        with told(self.path):
            old = self._database.execute(
                "SELECT id FROM conversation WHERE last < ? AND id IS NOT ?", (at, besides)
            ).fetchall()
        return self.remove([each["id"] for each in old]) if old else 0

    # ------------------------------------------------------------------ reading

    def listing(self, search: str = "", most: int = LISTED) -> tuple[KeptConversation, ...]:
        """Newest first; with `search` those that have each of its words."""
        looked_for = terms(search)
        if search.strip() and not looked_for:
            return ()
        matches = "".join(f" AND c.id IN ({_MATCHING})" for _ in looked_for)
        query = f"""SELECT c.id, c.began, c.last, {_NAMED}, count(turn.id) AS turns
            FROM conversation c JOIN turn ON turn.conversation = c.id
            WHERE 1 {matches} GROUP BY c.id ORDER BY c.last DESC, c.id DESC LIMIT ?"""
        # quoted: AND, NEAR and the like are words too
        asked = [f'"{term}"*' for term in looked_for for _ in range(2)]
        with told(self.path):
            found = self._database.execute(query, (*asked, most)).fetchall()
            texts = self._first_texts(looked_for) if looked_for else {}
            return tuple(_listed(row, texts.get(row["id"], ()), looked_for) for row in found)

    def read(self, conversation: int) -> Conversation:
        """All of it, its turns numbered from 1. InvalidInput when there is none such."""
        with told(self.path):
            _checked(conversation)
            head = self._database.execute(
                f"SELECT began, {_NAMED} FROM conversation c WHERE id = ?", (conversation,)
            ).fetchone()
            found = self._database.execute(
                "SELECT * FROM turn WHERE conversation = ? ORDER BY start_s, id", (conversation,)
            ).fetchall()
        if head is None:
            raise _unknown(conversation)
        turns = tuple(schema.turn(row, number) for number, row in enumerate(found, 1))
        return Conversation(_time(head["began"]), turns, title=_title(head, LONGEST_TITLE))

    def rows(self, conversation: int) -> tuple[int, ...]:
        """The rows of the turns that `read` gives."""
        with told(self.path):
            query = "SELECT id FROM turn WHERE conversation = ? ORDER BY start_s, id"
            found = self._database.execute(query, (conversation,)).fetchall()
        return tuple(row["id"] for row in found)

    def text(self, conversation: int, *, as_json: bool = False) -> str:
        """All of it to read, or to work on. InvalidInput when there is none such."""
        write = documents.as_json if as_json else documents.plain
        return write(self.read(conversation))

    def ids(self) -> tuple[int, ...]:
        """Ids of all conversations that have a turn, oldest first."""
        with told(self.path):
            query = "SELECT DISTINCT conversation FROM turn ORDER BY conversation"
            found = self._database.execute(query).fetchall()
        return tuple(row["conversation"] for row in found)

    def check(self) -> None:
        """Damaged when the file contradicts itself; looks at all of it."""
        with told(self.path):
            (verdict,) = self._database.execute("PRAGMA quick_check(1)").fetchone()
        if verdict != "ok":
            raise Damaged(
                "The kept conversations in {path} are damaged: {error}.",
                path=self.path,
                error=verdict,
            )

    # ------------------------------------------------------------------ insides

    @contextmanager
    def _changing(self) -> Iterator[sqlite3.Connection]:
        with told(self.path), schema.changing(self._database):
            yield self._database

    def _conversation(self, place: Place | None, began: datetime, at: float) -> int:
        database = self._database
        if place is not None:
            update = "UPDATE conversation SET last = max(last, ?) WHERE id = ?"
            if database.execute(update, (at, place.conversation)).rowcount:
                return place.conversation
        insert = "INSERT INTO conversation (began, last) VALUES (?, ?)"
        return database.execute(insert, (began.isoformat(), at)).lastrowid or 0

    def _first_texts(self, looked_for: tuple[str, ...]) -> dict[int, tuple[str, str]]:
        """By conversation: question and reply of the first turn that contains one of the words."""
        query = """SELECT conversation, said, reply, min(start_s) FROM turn WHERE id IN
            (SELECT rowid FROM turn_words WHERE turn_words MATCH ?) GROUP BY conversation"""
        any_of = " OR ".join(f'"{term}"*' for term in looked_for)
        found = self._database.execute(query, (any_of,))  # the texts are those of the minimum
        return {row["conversation"]: (str(row["said"]), str(row["reply"])) for row in found}


def _listed(
    row: sqlite3.Row, texts: tuple[str, ...], looked_for: tuple[str, ...]
) -> KeptConversation:
    return KeptConversation(
        id=row["id"],
        title=_title(row, _FIRST_WORDS) or Translatable("Without words"),
        began=_time(row["began"]).timestamp(),
        last=_moment(row["last"]),
        turns=row["turns"],
        excerpt=excerpt(texts, looked_for),
    )


def _title(row: sqlite3.Row, most: int) -> str:
    """As a person or a language model called it; else its subject, else its first question."""
    questions = str(row["questions"] or "").split("\x1e")
    return shortened(str(row["title"]) or subject(questions) or questions[0], most)


def _make(path: Path) -> None:
    """The file, its owner's alone before anything is in it; SQLite's own files take after it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
    path.chmod(0o600)


def _time(text: object) -> datetime:
    """A damaged time is the beginning of 1970."""
    try:
        found = datetime.fromisoformat(str(text))
    except ValueError:
        return _EPOCH
    found = found if found.tzinfo is not None else found.replace(tzinfo=UTC)
    return found if 1970 < found.year < _LATEST.year else _EPOCH


def _moment(seconds: object) -> float:
    """The seconds since 1970; 0 for a damaged value."""
    fits = isinstance(seconds, int | float) and 0 <= seconds < _LATEST.timestamp()
    return float(seconds) if fits else 0.0  # type: ignore[arg-type] # a number fits


def _checked(conversation: int) -> int:
    """Return the number if SQLite accepts it; otherwise raise InvalidInput."""
    if not 0 <= conversation < 2**63:
        raise _unknown(conversation)
    return conversation


def _unknown(conversation: int) -> InvalidInput:
    return InvalidInput(
        "There is no conversation {number}.",
        hint="It may have been deleted; list them.",
        number=conversation,
    )


_WRITERS = {".txt": documents.plain, ".md": documents.markdown}
SUFFIXES = (*_WRITERS, ".json")


def write_all(store: Store, path: Path) -> int:
    """Write the format that the suffix names; returns how many conversations. InvalidInput when it
    names none, when nothing was kept, or when the file cannot be written.
    """
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise InvalidInput(
            "Conversations cannot be written as '{suffix}'.",
            hint=Translatable(
                "Give the file a name that ends in {suffixes} or {suffix}.",
                suffixes=", ".join(SUFFIXES[:-1]),
                suffix=SUFFIXES[-1],
            ),
            suffix=path.suffix or path.name,
        )
    ids = store.ids()
    if not ids:
        raise InvalidInput("No conversation was kept.", hint="Have them kept, and talk first.")
    write_texts(path, _as_json(store, ids) if suffix == ".json" else _as_text(store, ids, suffix))
    return len(ids)


def _as_text(store: Store, ids: tuple[int, ...], suffix: str) -> Iterator[str]:
    for each in ids:
        yield _WRITERS[suffix](store.read(each)) + "\n"


def _as_json(store: Store, ids: tuple[int, ...]) -> Iterator[str]:
    """Each as it is exported alone."""
    yield f'{{"format": "rubato conversations", "version": {documents.VERSION}, "conversations": ['
    for number, each in enumerate(ids):
        yield (",\n" if number else "\n") + documents.as_json(store.read(each)).rstrip()
    yield "\n]}\n"
