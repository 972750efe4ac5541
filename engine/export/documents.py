"""Write a conversation as text, Markdown or JSON, chosen by the file's suffix.

Invariant: a file is complete or missing (written under a temporary name, then renamed). Unheard
text is included and marked. The JSON contains all data; its keys do not change between releases of
one `version`.
"""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict
from enum import Enum
from pathlib import Path
from types import MappingProxyType

from engine.atomic_write import replace_file
from engine.characters import join_surrogates
from engine.errors import InvalidInput
from engine.export.conversation import Conversation
from engine.messages.conversations import Turn
from engine.messages.words import Ending
from engine.translatable import Translatable

VERSION = 2


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
            lines += [f"**You** · {conversation.clock(turn.start_s)}", "", _quote(turn.said), ""]
        if turn.heard:
            lines += [f"**Rubato** · {conversation.clock(turn.replied_s)}", ""]
            lines += [turn.heard.strip(), ""]
        for remark in _remarks(turn):
            lines += [f"*{_escape(remark)}*", ""]
    return "\n".join(lines)


def as_json(conversation: Conversation) -> str:
    """Return the conversation as JSON with its fields. Times are seconds, rounded to
    milliseconds.
    """
    whole = {"format": "rubato conversation", "version": VERSION, **asdict(conversation)}
    return json.dumps(_round(whole), indent=2, ensure_ascii=False, default=_plain_value) + "\n"


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


def _quote(text: str) -> str:
    """Quote the user's words as plain text, whatever marks they contain."""
    return "\n".join(f"> {_escape(line)}" for line in text.splitlines())


def _escape(text: str) -> str:
    return "".join(f"\\{mark}" if mark in "\\`*_[]<>#" else mark for mark in text)


def _round(value: object) -> object:
    match value:
        case dict():
            return {key: _round(each) for key, each in value.items()}
        case list() | tuple():
            return [_round(each) for each in value]
        case float():
            return round(value, 3)
        case _:
            return value


def _plain_value(value: object) -> str:
    return str(value.value) if isinstance(value, Enum) else value.isoformat()  # type: ignore[attr-defined] # otherwise a datetime


SOUND = ".wav"
WRITERS: Mapping[str, Callable[[Conversation], str]] = MappingProxyType(
    {
        ".txt": plain,
        ".md": markdown,
        ".json": as_json,
    }
)


def check_suffix(path: Path) -> None:
    """Raise InvalidInput if no format has the suffix of `path`."""
    known = tuple(WRITERS)
    if path.suffix.lower() not in known:
        raise InvalidInput(
            "A conversation cannot be saved as '{suffix}'.",
            hint=Translatable(
                "Give the file a name that ends in {suffixes} or {suffix}.",
                suffixes=", ".join(known[:-1]),
                suffix=known[-1],
            ),
            suffix=path.suffix or path.name,
        )


def check_sound(path: Path) -> None:
    """Raise InvalidInput if the suffix of `path` is not .wav."""
    if path.suffix.lower() != SOUND:
        raise InvalidInput(
            "Sound is written as WAV, not as '{suffix}'.",
            hint=Translatable("Give the file a name that ends in {suffix}.", suffix=SOUND),
            suffix=path.suffix or path.name,
        )


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
