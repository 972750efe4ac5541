"""The tables, turns as rows, and the search index.

Invariant: only files of version 0 (new) and VERSION are changed. Deleted data is overwritten
(secure_delete). The index (FTS5) follows turns and titles by triggers. The file's content is not
trusted: an invalid value becomes an empty one, the text stays.
"""

import json
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, fields
from typing import Any

from engine.characters import join_surrogates
from engine.errors import HistoryError
from engine.languages import ENGLISH, SPOKEN
from engine.messages.conversations import HeardWord, Turn, TurnMetrics
from engine.messages.words import Ending
from engine.typed_values import WrongValue, typed

MOST_S = 1e10  # three centuries
BUSY_S = 2.0  # how long to wait for another instance's write

VERSION = 2
_TABLES = (
    """CREATE TABLE conversation (
        id INTEGER PRIMARY KEY AUTOINCREMENT,  -- never reused, also not by two instances
        began TEXT NOT NULL,  -- ISO 8601 with the zone
        last REAL NOT NULL,  -- seconds since 1970: time of the last addition
        title TEXT NOT NULL DEFAULT ''  -- empty: named after the first utterance
    )""",
    f"""CREATE TABLE turn (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        conversation INTEGER NOT NULL REFERENCES conversation(id) ON DELETE CASCADE,
        start_s REAL NOT NULL,  -- seconds after the conversation began, as all times here
        said TEXT NOT NULL,
        said_end_s REAL,
        typed INTEGER NOT NULL,
        reply TEXT NOT NULL,  -- as written
        heard TEXT NOT NULL,  -- the part of it that was heard
        ending TEXT,  -- NULL: the turn is open
        private INTEGER NOT NULL,  -- part of the reply stays on this computer
        voice TEXT NOT NULL,
        rate REAL,  -- syllables a second; NULL: the voice's own pace
        words TEXT NOT NULL,  -- JSON: [text, start, end, start_s, end_s] of each word heard
        metrics TEXT NOT NULL,  -- JSON of TurnMetrics
        language TEXT NOT NULL DEFAULT '{ENGLISH}'
    )""",
    "CREATE INDEX turn_in_order ON turn (conversation, start_s, id)",
    "CREATE INDEX conversation_by_last ON conversation (last)",
)
_INDEXED = {"turn": ("said", "reply"), "conversation": ("title",)}


def connect(path: str) -> sqlite3.Connection:
    """Open the file. HistoryError if a newer program made it or FTS5 is missing; sqlite3.Error."""
    # One thread at a time, but not always the same: the thread that joins another closes its
    # database.
    database = sqlite3.connect(path, timeout=BUSY_S, isolation_level=None, check_same_thread=False)
    try:
        for pragma in ("secure_delete = ON", "foreign_keys = ON", "journal_mode = WAL"):
            database.execute(f"PRAGMA {pragma}").fetchall()
        database.execute("PRAGMA synchronous = FULL")  # a written turn survives a power cut
        _require_full_text(database)
        _create(database)
    except BaseException:
        database.close()
        raise
    return database


def tidy_index(database: sqlite3.Connection) -> None:
    """Remove deleted entries from the index, which otherwise only marks them."""
    for table in _INDEXED:
        database.execute(f"INSERT INTO {table}_words ({table}_words) VALUES ('optimize')")


@contextmanager
def transaction(database: sqlite3.Connection) -> Iterator[None]:
    """Run the block as one transaction. An exception undoes all its changes."""
    database.execute("BEGIN IMMEDIATE")
    try:
        yield
        database.execute("COMMIT")
    except BaseException:
        if database.in_transaction:  # SQLite ends it itself when the disk is full
            database.execute("ROLLBACK")
        raise


def _require_full_text(database: sqlite3.Connection) -> None:
    try:
        database.execute("SELECT fts5_source_id()").fetchone()
    except sqlite3.OperationalError as error:
        raise HistoryError(
            "Conversations cannot be kept: this Python's SQLite has no full-text search (FTS5).",
            hint="Install Rubato with a Python from python.org or your system.",
        ) from error


def _create(database: sqlite3.Connection) -> None:
    """Create the tables, the index and its triggers in a new file."""
    if _version(database):
        return
    with transaction(database):
        if _version(database):  # another instance was faster
            return
        for statement in _TABLES:
            database.execute(statement)
        for table, columns in _INDEXED.items():
            _add_index(database, table, columns)
        database.execute(f"PRAGMA user_version = {VERSION}")


def _version(database: sqlite3.Connection) -> int:
    (version,) = database.execute("PRAGMA user_version").fetchone()
    if version not in (0, VERSION):
        raise HistoryError(
            "The kept conversations are of a newer version of this program.",
            hint="Start that version; this one saves nothing, and nothing is lost.",
        )
    return int(version)


def _add_index(database: sqlite3.Connection, table: str, columns: tuple[str, ...]) -> None:
    names, words = ", ".join(columns), f"{table}_words"
    new, old = (", ".join(f"{row}.{name}" for name in columns) for row in ("new", "old"))
    add = f"INSERT INTO {words} (rowid, {names}) VALUES (new.id, {new});"
    take = f"INSERT INTO {words} ({words}, rowid, {names}) VALUES ('delete', old.id, {old});"
    database.execute(
        f"CREATE VIRTUAL TABLE {words} USING fts5({names}, content='{table}',"
        " content_rowid='id', tokenize='unicode61 remove_diacritics 2')"
    )
    for when, body in (("insert", add), ("delete", take), (f"update OF {names}", take + add)):
        name = f"index_{table}_{when.split()[0]}"
        database.execute(f"CREATE TRIGGER {name} AFTER {when} ON {table} BEGIN {body} END")


COLUMNS = (
    *("start_s", "said", "said_end_s", "typed", "reply", "heard", "ending"),
    *("private", "voice", "rate", "words", "metrics", "language"),
)


def values(turn: Turn) -> tuple[Any, ...]:
    """Return the turn's values in the order of COLUMNS."""
    words = []
    for each in turn.words:
        times = round(each.start_s, 3), round(each.end_s, 3)
        words.append((join_surrogates(each.text), each.start, each.end, *times))
    return (
        round(turn.start_s, 3),
        join_surrogates(turn.said),
        turn.said_end_s,
        turn.typed,
        join_surrogates(turn.reply),
        join_surrogates(turn.heard),
        None if turn.ending is None else turn.ending.value,
        turn.private,
        turn.voice,
        turn.rate,
        json.dumps(words),
        json.dumps({name: at for name, at in asdict(turn.metrics).items() if at is not None}),
        turn.language,
    )


def turn(row: sqlite3.Row, number: int) -> Turn:
    """Convert a row to a turn with this number."""
    return Turn(
        number=number,
        ending=_ending(row["ending"]),
        start_s=_number(row["start_s"]) or 0.0,
        said=str(row["said"]),
        said_end_s=_number(row["said_end_s"]),
        typed=bool(row["typed"]),
        reply=str(row["reply"]),
        heard=str(row["heard"]),
        words=_words(row["words"]),
        metrics=_metrics(row["metrics"]),
        private=bool(row["private"]),
        voice=str(row["voice"]),
        rate=_number(row["rate"]),
        language=row["language"] if row["language"] in SPOKEN else ENGLISH,
    )


def _ending(value: object) -> Ending | None:
    try:
        return None if value is None else Ending(value)
    except ValueError:
        return Ending.FAILED


def _number(value: object) -> float | None:
    """Return a time in a conversation, or a rate; None for an invalid value."""
    return float(value) if isinstance(value, int | float) and abs(value) < MOST_S else None


def _words(text: object) -> tuple[HeardWord, ...]:
    """Return the words; none if one of them is not a text with a place and times."""
    kind = tuple[tuple[str, int, int, float, float], ...]
    try:
        found = typed(kind, _json(text, list), "words")
    except WrongValue:
        return ()
    if not all(abs(at) < MOST_S for *_, start_s, end_s in found for at in (start_s, end_s)):
        return ()
    return tuple(HeardWord(join_surrogates(word), *places) for word, *places in found)


def _metrics(text: object) -> TurnMetrics:
    known = {each.name for each in fields(TurnMetrics)}
    found: Mapping[str, Any] = _json(text, dict)
    return TurnMetrics(
        **{name: at for name, at in found.items() if name in known and _number(at) is not None}
    )


def _json(text: object, kind: type) -> Any:  # Any: JSON
    try:
        found = json.loads(str(text))
    except (ValueError, RecursionError):
        return kind()
    return found if isinstance(found, kind) else kind()
