"""The pointer: which environment is in force, which one it replaced, and how its starts go.

Invariant: one small file that is only ever replaced whole; its first line is the name of the
environment in force, so that a launcher in any language can read it.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from installer.bootstrap.places import PREFIX, Home, locked, write_whole
from installer.commands import SetupError

ENOUGH_STARTS = 2  # of a new environment before the one it replaced is removed
ENOUGH_FAILURES = 2  # starts that came to nothing before it is replaced again by that one
STARTED = "started"  # in an environment: a line for each time the program came up


@dataclass(frozen=True)
class Pointer:
    """`current` is in force ("" before the first installation). `previous`, while it is kept, is
    what it replaced; `left` is the one that was rolled back from, and `begun` counts starts of
    `current` that have not come up yet.
    """

    current: str = ""
    previous: str = ""
    left: str = ""
    begun: int = 0


def read(home: Home) -> Pointer:
    """The pointer as it is; what cannot be read counts as never written."""
    try:
        lines = home.pointer.read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError):
        return Pointer()
    facts = dict(line.split(" ", 1) for line in lines[1:] if " " in line)
    begun = facts.get("begun", "0")
    return Pointer(
        _name(lines[0] if lines else ""),
        _name(facts.get("previous", "")),
        _name(facts.get("left", "")),
        int(begun) if begun.isdecimal() else 0,
    )


def _name(text: str) -> str:
    """A name of an environment, not a path to somewhere else."""
    return text if re.fullmatch(PREFIX + r"[\w.+!-]+", text) else ""


@contextmanager
def changing(home: Home) -> Iterator[None]:
    """From reading the pointer to writing it, alone; never for longer than an instant, for a start
    waits for it where it would not wait for an installation.
    """
    with locked(home, "pointer"):
        yield


def write(home: Home, pointer: Pointer) -> None:
    lines = [pointer.current]
    lines += [f"previous {pointer.previous}"] if pointer.previous else []
    lines += [f"left {pointer.left}"] if pointer.left else []
    lines += [f"begun {pointer.begun}"] if pointer.begun else []
    write_whole(home.pointer, "\n".join(lines) + "\n")


def switch(home: Home, name: str) -> Pointer:
    """Put a whole environment in force and keep the one before it. SetupError otherwise."""
    if not home.is_whole(name):
        raise SetupError(f"{name} is not complete, so it was not put in force.")
    with changing(home):
        old = read(home)
        if old.current == name:
            return old
        before = (each for each in (old.current, old.previous) if each != name)
        pointer = Pointer(name, next(filter(home.is_whole, before), ""))
        write(home, pointer)
    return pointer


def roll_back(home: Home) -> Pointer:
    """Put the environment before this one in force again. SetupError when it is not there."""
    with changing(home):
        old = read(home)
        if not home.is_whole(old.previous):
            raise SetupError("There is no earlier version to go back to.")
        pointer = Pointer(old.previous, left=old.current)
        write(home, pointer)
    return pointer


def starts(home: Home, name: str) -> int:
    """How often the program of this environment came up; it notes that itself."""
    try:
        return len((home.env(name) / STARTED).read_bytes().splitlines())
    except OSError:
        return 0


def begin(home: Home) -> Pointer:
    """Note that a start is tried, until the first one came up."""
    with changing(home):
        found = read(home)
        if not starts(home, found.current):
            found = replace(found, begun=found.begun + 1)
            write(home, found)
    return found


def ended_well(home: Home) -> None:
    """Forget the starts that were tried: the program ended as it should."""
    if read(home).begun:
        with changing(home):
            write(home, replace(read(home), begun=0))


def drop_previous(home: Home) -> str:
    """Keep the earlier version no longer, once this one came up often enough; its name, or ""."""
    with changing(home):
        found = read(home)
        if not found.previous or starts(home, found.current) < ENOUGH_STARTS:
            return ""
        write(home, replace(found, previous=""))
    return found.previous
