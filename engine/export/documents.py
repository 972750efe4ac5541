"""A conversation to read (text, Markdown) and to work on (JSON), and its way into a file whose
suffix says how.

Invariant: a file is complete or not there (written under a temporary name, then renamed). What was
written but not heard is there and says so. The JSON holds everything that is known; its keys do not
change between releases of one `version`.
"""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict
from enum import Enum
from pathlib import Path
from types import MappingProxyType

from engine.atomic_write import replace_file
from engine.characters import whole
from engine.errors import InvalidInput
from engine.export.conversation import Conversation, Turn
from engine.messages.words import Ending
from engine.translatable import Translatable

VERSION = 2


def plain(conversation: Conversation) -> str:
    """For any editor: a line for who said what and when."""
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
    """Replies keep the marks they were written with."""
    lines = [f"# {_escaped(' '.join(_title(conversation).split()))}", ""]
    for turn in conversation.turns:
        if turn.said:
            lines += [f"**You** · {conversation.clock(turn.start_s)}", "", _quoted(turn.said), ""]
        if turn.heard:
            lines += [f"**Rubato** · {conversation.clock(turn.replied_s)}", ""]
            lines += [turn.heard.strip(), ""]
        for remark in _remarks(turn):
            lines += [f"*{_escaped(remark)}*", ""]
    return "\n".join(lines)


def as_json(conversation: Conversation) -> str:
    """The conversation's fields by their names; times in seconds, rounded to milliseconds."""
    whole = {"format": "rubato conversation", "version": VERSION, **asdict(conversation)}
    return json.dumps(_rounded(whole), indent=2, ensure_ascii=False, default=_plain_value) + "\n"


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


def _quoted(text: str) -> str:
    """What the person said is text, whatever marks it seems to hold."""
    return "\n".join(f"> {_escaped(line)}" for line in text.splitlines())


def _escaped(text: str) -> str:
    return "".join(f"\\{mark}" if mark in "\\`*_[]<>#" else mark for mark in text)


def _rounded(value: object) -> object:
    match value:
        case dict():
            return {key: _rounded(each) for key, each in value.items()}
        case list() | tuple():
            return [_rounded(each) for each in value]
        case float():
            return round(value, 3)
        case _:
            return value


def _plain_value(value: object) -> str:
    return str(value.value) if isinstance(value, Enum) else value.isoformat()  # type: ignore[attr-defined] # a datetime is all that is left


SOUND = ".wav"
WRITERS: Mapping[str, Callable[[Conversation], str]] = MappingProxyType(
    {
        ".txt": plain,
        ".md": markdown,
        ".json": as_json,
    }
)


def check_suffix(path: Path) -> None:
    """InvalidInput when no format has the suffix of `path`."""
    known = tuple(WRITERS)
    if path.suffix.lower() not in known:
        raise InvalidInput(
            "A conversation cannot be written as '{suffix}'.",
            hint=Translatable(
                "Give the file a name that ends in {suffixes} or {suffix}.",
                suffixes=", ".join(known[:-1]),
                suffix=known[-1],
            ),
            suffix=path.suffix or path.name,
        )


def check_sound(path: Path) -> None:
    """InvalidInput when the name of `path` promises something else than a WAV."""
    if path.suffix.lower() != SOUND:
        raise InvalidInput(
            "Sound is written as WAV, not as '{suffix}'.",
            hint=Translatable("Give the file a name that ends in {suffix}.", suffix=SOUND),
            suffix=path.suffix or path.name,
        )


def write(conversation: Conversation, path: Path) -> None:
    """Write the format that the suffix names. InvalidInput when it names none, when there is
    nothing to write, or when the file cannot be written.
    """
    check_suffix(path)
    if not conversation.turns:
        raise InvalidInput("There is no conversation yet.", hint="Say or type something first.")
    put(path, (WRITERS[path.suffix.lower()](conversation),))


def put(path: Path, texts: Iterable[str]) -> None:
    """Write a file of these texts, one after another. InvalidInput when it cannot be written."""
    try:
        replace_file(path, "".join(map(whole, texts)))
    except OSError as error:
        raise unwritable(path, error) from error


def unwritable(path: Path, error: Exception) -> InvalidInput:
    """What to tell the person when `path` could not be written because of `error`."""
    reason = getattr(error, "strerror", None) or error
    return InvalidInput(
        "The file {path} cannot be written: {error}.",
        hint="Choose a place that exists, where you may write and where there is room.",
        path=path,
        error=reason,
    )
