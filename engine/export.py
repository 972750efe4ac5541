"""Write a conversation as text, Markdown or JSON, chosen by the file's suffix, and a comparison of
systems as CSV or as a table in a terminal.

Invariant: a file is complete or missing (written under a temporary name, then renamed). Unheard
text is included and marked. The JSON contains all data; its keys do not change between releases of
one `version`.
"""

import csv
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from enum import Enum
from io import StringIO
from pathlib import Path
from types import MappingProxyType
from typing import Final

from engine.atomic_write import replace_file
from engine.characters import join_surrogates
from engine.errors import InvalidInput
from engine.messages.comparison import Compared
from engine.messages.conversations import Turn
from engine.messages.words import Ending
from engine.translatable import Translatable, mark

VERSION = 2
COLUMNS: Final = (
    "system", "voice", "first sound, ms", "words before it", "processor share",
    "syllables a second", "seconds", "dry, ms", "note",
)  # fmt: skip


@dataclass(frozen=True)
class Conversation:
    """A conversation that began at `began` (a time with its zone). `turns`: oldest first. `title`:
    the user's title; empty = the user gave none.
    """

    began: datetime
    turns: tuple[Turn, ...] = ()
    title: str = ""

    def clock(self, seconds: float) -> str:
        """Return the time of day `seconds` after the beginning."""
        moment = self.began + timedelta(seconds=seconds)
        # `began` has a fixed offset, which is an hour off after a clock change. The zone of this
        # machine knows the change, if the conversation began in it.
        if self.began.astimezone().utcoffset() == self.began.utcoffset():
            moment = moment.astimezone()
        return moment.strftime("%H:%M:%S")


def plain(conversation: Conversation) -> str:
    """Return the conversation as text: a line with speaker and time for each utterance."""
    lines = [" ".join(_title(conversation).split()), ""]
    for turn in conversation.turns:
        if turn.said:
            lines.append(f"[{conversation.clock(turn.start_s)}] You: {turn.said}")
        if turn.heard:
            lines.append(f"[{conversation.clock(turn.replied_s)}] Rubato: {turn.heard.strip()}")
        lines += [f"           ({remark})" for remark in _remarks(turn)]
        lines.append("")
    return "\n".join(lines)


def markdown(conversation: Conversation) -> str:
    """Return the conversation as Markdown. Markdown in replies stays as it is."""
    lines = [f"# {_escape(' '.join(_title(conversation).split()))}", ""]
    for turn in conversation.turns:
        if turn.said:
            said = (f"> {_escape(line)}" for line in turn.said.splitlines())  # as plain text
            lines += [f"**You** · {conversation.clock(turn.start_s)}", "", *said, ""]
        if turn.heard:
            lines += [f"**Rubato** · {conversation.clock(turn.replied_s)}", ""]
            lines += [turn.heard.strip(), ""]
        for remark in _remarks(turn):
            lines += [f"*{_escape(remark)}*", ""]
    return "\n".join(lines)


def as_json(conversation: Conversation) -> str:
    """Return the conversation as JSON with its fields. Times are in seconds, to milliseconds."""
    whole = {"format": "rubato conversation", "version": VERSION, **asdict(conversation)}
    return json.dumps(_plain_value(whole), indent=2, ensure_ascii=False) + "\n"


def _title(conversation: Conversation) -> str:
    title = f"{conversation.title} · " if conversation.title else ""
    return f"{title}Conversation of {conversation.began:%Y-%m-%d %H:%M}"


def _remarks(turn: Turn) -> list[str]:
    remarks = []
    if turn.ending is not None and (turn.ending.interrupted or turn.ending is Ending.FAILED):
        remarks.append(turn.ending.value)
    if turn.unheard:
        remarks.append(f"not heard: {turn.unheard}")
    return remarks


def _escape(text: str) -> str:
    return "".join(f"\\{mark}" if mark in "\\`*_[]<>#" else mark for mark in text)


def _plain_value(value: object) -> object:
    """Return a value with rounded numbers, and with texts for dates and the values of enums."""
    match value:
        case dict():
            return {key: _plain_value(each) for key, each in value.items()}
        case list() | tuple():
            return [_plain_value(each) for each in value]
        case float():
            return round(value, 3)
        case Enum():
            return value.value
        case datetime():
            return value.isoformat()
        case _:
            return value


SOUND = ".wav"
WRITERS: Mapping[str, Callable[[Conversation], str]] = MappingProxyType(
    {".txt": plain, ".md": markdown, ".json": as_json}
)


def check_suffix(
    path: Path,
    known: Sequence[str] = tuple(WRITERS),
    refusal: str = mark("A conversation cannot be saved as '{suffix}'."),
) -> None:
    """Raise InvalidInput with the message `refusal` if the suffix of `path` is not a known one."""
    if path.suffix.lower() not in known:
        *others, last = known
        hint = Translatable("Give the file a name that ends in {suffix}.", suffix=last)
        if others:
            hint = Translatable(
                "Give the file a name that ends in {suffixes} or {suffix}.",
                suffixes=", ".join(others),
                suffix=last,
            )
        raise InvalidInput(refusal, hint=hint, suffix=path.suffix or path.name)


def check_sound(path: Path) -> None:
    """Raise InvalidInput if the suffix of `path` is not .wav."""
    check_suffix(path, (SOUND,), mark("Sound is written as WAV, not as '{suffix}'."))


def write(conversation: Conversation, path: Path) -> None:
    """Write the conversation in the format of the path's suffix. InvalidInput for an unknown
    suffix, an empty conversation, or a file that cannot be written.
    """
    check_suffix(path)
    if not conversation.turns:
        raise InvalidInput("There is no conversation yet.", hint="Say or type something first.")
    write_texts(path, (WRITERS[path.suffix.lower()](conversation),))


def write_texts(path: Path, texts: Iterable[str]) -> None:
    """Write the texts to a file, one after another. InvalidInput if it cannot be written."""
    try:
        replace_file(path, "".join(map(join_surrogates, texts)))
    except OSError as error:
        raise write_error(path, error) from error


def write_error(path: Path, error: Exception) -> InvalidInput:
    """Return the error for a `path` that could not be written."""
    reason = getattr(error, "strerror", None) or error
    return InvalidInput(
        "The file {path} cannot be written: {error}.",
        hint="Choose an existing folder on a disk with space where you may write.",
        path=path,
        error=reason,
    )


def cells(row: Compared) -> tuple[str, ...]:
    """Return a row's cells as printed. An empty cell means unknown."""
    return (
        row.title,
        row.voice,
        _number(row.first_sound_ms, 0),
        _number(row.words_before, 0),
        _number(row.share, 2),
        _number(row.rate, 1),
        _number(row.seconds, 1),
        _number(row.dry_ms, 0),
        row.note,
    )


def write_comparison(rows: Sequence[Compared], path: Path) -> None:
    """Write the table as CSV. InvalidInput if it cannot be written."""
    text = StringIO()
    csv.writer(text, lineterminator="\n").writerows((COLUMNS, *map(cells, rows)))
    write_texts(path, (text.getvalue(),))


def comparison_table(rows: Sequence[Compared]) -> str:
    """Return the table in columns, with the notes below it."""
    lines = [each[:-1] for each in (COLUMNS, *map(cells, rows))]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    shown = [
        "  ".join(
            cell.ljust(width) if place < 2 else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    ]
    notes = [f"{row.title}: {row.note}" for row in rows if row.note]
    return "\n".join([*shown, *(["", *notes] if notes else [])])


def _number(value: float | None, digits: int) -> str:
    return "" if value is None else f"{value:.{digits}f}"
