"""The file of running timers, for the next start.

Invariant: it is complete or not there (written under a temporary name, then renamed), and only its
owner can read what a person wanted to be reminded of. One that is damaged is set aside.
"""

import json
from dataclasses import asdict
from itertools import count
from pathlib import Path
from typing import Any

from engine import settings_file
from engine.atomic_write import replace_file
from engine.errors import InvalidInput
from engine.messages.timers import TimerKind, TimerSet
from engine.translatable import Translatable

NAME = "timers.json"
LARGEST_BYTES = 1024 * 1024  # a timer takes about a hundred
LATEST = 253_402_300_800.0  # the year 10000, in seconds since 1970


def default_path() -> Path:
    """Where running timers wait for the next start."""
    return settings_file.data_folder() / NAME


def load(path: Path) -> tuple[TimerSet, ...]:
    """The timers of the file; none when there is no file. InvalidInput when it is damaged; then
    it has been set aside.
    """
    try:
        return tuple(_timer(each) for each in json.loads(_read(path))["timers"])
    except FileNotFoundError:
        return ()
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise InvalidInput(
            "The timers of last time cannot be read ({error} in {path}).",
            hint=_set_aside(path),
            error=type(error).__name__,
            path=path,
        ) from error


def save(timers: tuple[TimerSet, ...], path: Path) -> None:
    """Write the file again. InvalidInput: not saved, and the old file is as it was."""
    content = json.dumps({"timers": [_written(timer) for timer in timers]}, indent=1)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(path, content)
    except OSError as error:
        raise InvalidInput(
            "The timers cannot be saved in {path}: {error}.",
            hint="They ring as long as the program runs. Make room there, or make it writable.",
            path=path,
            error=error.strerror or error,
        ) from error


def _read(path: Path) -> bytes:
    with path.open("rb") as file:
        content = file.read(LARGEST_BYTES + 1)
    if len(content) > LARGEST_BYTES:
        raise ValueError("it is too large")
    return content


def _written(timer: TimerSet) -> dict[str, Any]:
    return {**asdict(timer), "kind": timer.kind.value}


def _timer(content: dict[str, Any]) -> TimerSet:
    """TypeError, KeyError or ValueError when it is none."""
    due, label, text = content["due"], content["label"], content["text"]
    if type(due) not in (int, float) or not isinstance(label, str) or not isinstance(text, str):
        raise TypeError("a timer has a time, a label and a text")
    seconds, paused_s = content.get("seconds", 0.0), content.get("paused_s")
    for each in (due, seconds, paused_s):
        if each is not None and not (type(each) in (int, float) and 0 <= each <= LATEST):
            raise ValueError("no such time")  # not-a-number is refused here too
    kind, number = TimerKind(content.get("kind", "timer")), content.get("number", 0)
    if type(number) is not int:
        raise TypeError("a number is a whole one")
    return TimerSet(float(due), label, text, number, kind, float(seconds), paused_s)


def _set_aside(path: Path) -> Translatable:
    """Give the file another name, so that it is not overwritten; says where it is."""
    names = (path.with_name(f"{path.stem}.damaged-{n}{path.suffix}") for n in count(1))
    kept = next(name for name in names if not name.exists())
    try:
        path.rename(kept)
    except OSError as error:
        return Translatable(
            "Set them again. The file could not be set aside: {error}.",
            error=error.strerror or error,
        )
    return Translatable("Set them again. The file is kept as {name}.", name=kept.name)
