"""A turn as a row, and back.

Invariant: what a file says is not trusted: a value that does not fit gives way to an empty one, the
text stays.
"""

import json
import sqlite3
from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import Any

from engine.characters import whole
from engine.export.conversation import HeardWord, Turn
from engine.messages.events import TurnMetrics
from engine.messages.words import Ending

COLUMNS = (
    "start_s",
    "said",
    "said_end_s",
    "typed",
    "reply",
    "heard",
    "ending",
    "private",
    "voice",
    "rate",
    "words",
    "metrics",
)


def values(turn: Turn) -> tuple[Any, ...]:
    """In the order of COLUMNS."""
    words = [
        (whole(each.text), each.start, each.end, round(each.start_s, 3), round(each.end_s, 3))
        for each in turn.words
    ]
    return (
        round(turn.start_s, 3),
        whole(turn.said),
        turn.said_end_s,
        turn.typed,
        whole(turn.reply),
        whole(turn.heard),
        None if turn.ending is None else turn.ending.value,
        turn.private,
        turn.voice,
        turn.rate,
        json.dumps(words),
        json.dumps({name: at for name, at in asdict(turn.metrics).items() if at is not None}),
    )


def turn(row: sqlite3.Row, number: int) -> Turn:
    """The turn of a row, as number `number` of its conversation."""
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
    )


def _ending(value: object) -> Ending | None:
    try:
        return None if value is None else Ending(value)
    except ValueError:
        return Ending.FAILED


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) else None


def _words(text: object) -> tuple[HeardWord, ...]:
    try:
        return tuple(_word(*each) for each in _json(text, list))
    except (TypeError, ValueError):
        return ()


def _word(text: object, start: object, end: object, start_s: object, end_s: object) -> HeardWord:
    if not isinstance(text, str) or not isinstance(start, int) or not isinstance(end, int):
        raise TypeError("not a word")
    return HeardWord(whole(text), start, end, float(start_s), float(end_s))  # type: ignore[arg-type] # float() refuses what is none


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
