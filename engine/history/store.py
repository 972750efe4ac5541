"""The file of conversations: save, list, search, read, rename, delete and export.

Invariant: one thread at a time uses a Store. Every change is one transaction. Only the owner can
read the file and SQLite's files beside it (0600). Deleted text is in none of them.
"""

import os
import re
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Self

from engine import export, settings_file
from engine.characters import join_surrogates
from engine.errors import InvalidInput
from engine.export import Conversation, check_suffix, write_texts
from engine.history import schema
from engine.history.faults import Damaged, Identity, identity, translate_errors
from engine.history.subject import shorten, subject
from engine.messages.conversations import KeptConversation, Turn
from engine.translatable import Translatable, mark

NAME = "conversations.sqlite"  # in the data folder
LISTED = 500  # conversations in a list; a search finds older ones
LONGEST_TITLE = 120  # characters
_EPOCH, _LATEST = datetime.fromtimestamp(0, UTC), datetime(3000, 1, 1, tzinfo=UTC)
_FIRST_WORDS = 60  # characters of a title made from the first question
_WORD = re.compile(r"[^\W_]+")  # the same words as FTS5's unicode61
_MOST_TERMS = 16  # of a search, a sentence; further words are ignored
_EXCERPT_WORDS, _LONGEST_EXCERPT = 12, 90  # around a match; characters
_QUESTIONS = 6  # questions that are searched for a subject
# Has two parameters, both the word; selects the conversations that contain it.
_MATCHING = """SELECT conversation FROM turn WHERE id IN
    (SELECT rowid FROM turn_words WHERE turn_words MATCH ?) UNION
    SELECT rowid FROM conversation_words WHERE conversation_words MATCH ?"""
_REMOVE_EMPTY = "DELETE FROM conversation WHERE id NOT IN (SELECT conversation FROM turn)"
_NAMED = f"""title, (SELECT group_concat(said, char(30)) FROM
    (SELECT said FROM turn WHERE conversation = c.id AND said <> '' ORDER BY start_s, id
    LIMIT {_QUESTIONS})) AS questions"""


def default_path() -> Path:
    """Return the path of the saved conversations."""
    return settings_file.data_folder() / NAME


@dataclass(frozen=True)
class Place:
    """The location of a saved turn."""

    conversation: int
    row: int


class Store:
    """The open file."""

    def __init__(self, path: Path) -> None:
        """Open the file, or create it. Damaged or HistoryError if it cannot be used."""
        self.path = path
        self.file: Identity | None = None
        try:
            with translate_errors(path):
                path.parent.mkdir(parents=True, exist_ok=True)
                # Private while it is empty; SQLite's own files copy its mode.
                os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
                path.chmod(0o600)
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
        """Return whether the path still leads to the open file, which may be renamed."""
        return identity(self.path) == self.file

    # ------------------------------------------------------------------ keeping

    def keep(self, turn: Turn, began: datetime, at: float, place: Place | None = None) -> Place:
        """Save a turn. It replaces the turn at `place`. If that turn is gone, it is added to the
        conversation of `place`; without `place`, or if the conversation was deleted, to a new
        conversation that began at `began`. `at`: the time of the turn, in seconds since 1970.
        """
        with self._transaction() as database:
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
        """Delete a turn that ended empty, and its conversation if no other turn is left."""
        with self._transaction() as database:
            database.execute("DELETE FROM turn WHERE id = ?", (place.row,))
            database.execute(_REMOVE_EMPTY)

    def rename(self, conversation: int, title: str) -> None:
        """Set the title; empty: the subject. InvalidInput for an unknown conversation."""
        with self._transaction() as database:
            changed = database.execute(
                "UPDATE conversation SET title = ? WHERE id = ?",
                (join_surrogates(shorten(title, LONGEST_TITLE)), _check_id(conversation)),
            )
        if not changed.rowcount:
            raise _unknown(conversation)

    def suggest(self, conversation: int, title: str) -> None:
        """Set the title, unless the user gave one."""
        with self._transaction() as database:
            database.execute(
                "UPDATE conversation SET title = ? WHERE id = ? AND title = ''",
                (join_surrogates(shorten(title, LONGEST_TITLE)), conversation),
            )

    def remove(self, conversations: Sequence[int]) -> int:
        """Delete conversations for good; return how many existed."""
        with self._transaction() as database:
            removed = 0
            for each in map(_check_id, conversations):
                database.execute("DELETE FROM turn WHERE conversation = ?", (each,))
                gone = database.execute("DELETE FROM conversation WHERE id = ?", (each,))
                removed += gone.rowcount
            database.execute(_REMOVE_EMPTY)
            if removed:
                schema.tidy_index(database)
        with translate_errors(self.path):  # the journal still contains the deleted text
            database.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        return removed

    def remove_before(self, at: float, besides: int | None = None) -> int:
        """Delete conversations without a turn since `at`, except `besides`; return their number."""
        with translate_errors(self.path):
            old = self._database.execute(
                "SELECT id FROM conversation WHERE last < ? AND id IS NOT ?", (at, besides)
            ).fetchall()
        return self.remove([each["id"] for each in old]) if old else 0

    # ------------------------------------------------------------------ reading

    def listing(self, search: str = "", most: int = LISTED) -> tuple[KeptConversation, ...]:
        """List conversations, newest first; with `search` those that contain each of its words."""
        looked_for = tuple(_WORD.findall(search)[:_MOST_TERMS])
        if search.strip() and not looked_for:
            return ()
        matches = "".join(f" AND c.id IN ({_MATCHING})" for _ in looked_for)
        query = f"""SELECT c.id, c.began, c.last, {_NAMED}, count(turn.id) AS turns
            FROM conversation c JOIN turn ON turn.conversation = c.id
            WHERE 1 {matches} GROUP BY c.id ORDER BY c.last DESC, c.id DESC LIMIT ?"""
        # quoted: AND, NEAR and the like are words too
        asked = [f'"{term}"*' for term in looked_for for _ in range(2)]
        with translate_errors(self.path):
            found = self._database.execute(query, (*asked, most)).fetchall()
            excerpts = self._excerpts(looked_for) if looked_for else {}
            return tuple(_entry(row, excerpts.get(row["id"], "")) for row in found)

    def read(self, conversation: int) -> Conversation:
        """Return a conversation, its turns numbered from 1. InvalidInput for an unknown one."""
        with translate_errors(self.path):
            _check_id(conversation)
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
        """Return the numbers of the rows of read()'s turns."""
        with translate_errors(self.path):
            query = "SELECT id FROM turn WHERE conversation = ? ORDER BY start_s, id"
            found = self._database.execute(query, (conversation,)).fetchall()
        return tuple(row["id"] for row in found)

    def text(self, conversation: int, *, as_json: bool = False) -> str:
        """Return a conversation as text, or as JSON. InvalidInput for an unknown one."""
        write = export.as_json if as_json else export.plain
        return write(self.read(conversation))

    def ids(self) -> tuple[int, ...]:
        """Return the ids of all conversations that have a turn, oldest first."""
        with translate_errors(self.path):
            query = "SELECT DISTINCT conversation FROM turn ORDER BY conversation"
            found = self._database.execute(query).fetchall()
        return tuple(row["conversation"] for row in found)

    def check(self) -> None:
        """Check the complete file; Damaged if it is inconsistent."""
        with translate_errors(self.path):
            (verdict,) = self._database.execute("PRAGMA quick_check(1)").fetchone()
        if verdict != "ok":
            raise Damaged(
                "The kept conversations in {path} are damaged: {error}.",
                path=self.path,
                error=verdict,
            )

    # ------------------------------------------------------------------ insides

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with translate_errors(self.path), schema.transaction(self._database):
            yield self._database

    def _conversation(self, place: Place | None, began: datetime, at: float) -> int:
        database = self._database
        if place is not None:
            update = "UPDATE conversation SET last = max(last, ?) WHERE id = ?"
            if database.execute(update, (at, place.conversation)).rowcount:
                return place.conversation
        insert = "INSERT INTO conversation (began, last) VALUES (?, ?)"
        return database.execute(insert, (began.isoformat(), at)).lastrowid or 0

    def _excerpts(self, looked_for: tuple[str, ...]) -> dict[int, str]:
        """Return an excerpt of each conversation's first turn with one of the words."""
        query = f"""SELECT conversation, snippet(turn_words, -1, '', '', '…', {_EXCERPT_WORDS})
            FROM turn_words JOIN turn ON turn.id = turn_words.rowid WHERE turn_words MATCH ?
            ORDER BY start_s DESC, turn.id DESC"""
        any_of = " OR ".join(f'"{term}"*' for term in looked_for)
        found = self._database.execute(query, (any_of,))  # of two, the last stays
        return {number: shorten(excerpt, _LONGEST_EXCERPT) for number, excerpt in found}


def _entry(row: sqlite3.Row, excerpt: str) -> KeptConversation:
    return KeptConversation(
        id=row["id"],
        title=_title(row, _FIRST_WORDS) or Translatable("Without words"),
        began=_time(row["began"]).timestamp(),
        last=_moment(row["last"]),
        turns=row["turns"],
        excerpt=excerpt,
    )


def _title(row: sqlite3.Row, most: int) -> str:
    """Return the title of the user or the language model, else the subject or first question."""
    questions = str(row["questions"] or "").split("\x1e")
    return shorten(str(row["title"]) or subject(questions) or questions[0], most)


def _time(text: object) -> datetime:
    """Parse a time. An invalid one becomes the beginning of 1970."""
    try:
        found = datetime.fromisoformat(str(text))
    except ValueError:
        return _EPOCH
    found = found if found.tzinfo is not None else found.replace(tzinfo=UTC)
    return found if 1970 < found.year < _LATEST.year else _EPOCH


def _moment(seconds: object) -> float:
    """Return the seconds since 1970; 0 for an invalid value."""
    fits = isinstance(seconds, int | float) and 0 <= seconds < _LATEST.timestamp()
    return float(seconds) if fits else 0.0  # type: ignore[arg-type] # a number fits


def _check_id(conversation: int) -> int:
    """Return the conversation's number. InvalidInput if SQLite cannot store such a number."""
    if not 0 <= conversation < 2**63:
        raise _unknown(conversation)
    return conversation


def _unknown(conversation: int) -> InvalidInput:
    return InvalidInput(
        "There is no conversation {number}.",
        hint="It may have been deleted; list them.",
        number=conversation,
    )


def write_all(store: Store, path: Path) -> int:
    """Write all conversations in the format of the suffix; return how many. InvalidInput."""
    suffix = path.suffix.lower()
    check_suffix(path, refusal=mark("Conversations cannot be saved as '{suffix}'."))
    ids = store.ids()
    if not ids:
        raise InvalidInput("No conversation was kept.", hint="Turn on keeping them first.")
    texts = (f"{export.WRITERS[suffix](store.read(each))}\n" for each in ids)
    write_texts(path, _as_json(store, ids) if suffix == ".json" else texts)
    return len(ids)


def _as_json(store: Store, ids: tuple[int, ...]) -> Iterator[str]:
    """Yield each conversation as JSON, as in an export of its own."""
    yield f'{{"format": "rubato conversations", "version": {export.VERSION}, "conversations": ['
    for number, each in enumerate(ids):
        yield (",\n" if number else "\n") + export.as_json(store.read(each)).rstrip()
    yield "\n]}\n"
