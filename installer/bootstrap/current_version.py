"""The pointer: the current environment, the one it replaced, and the number of its starts.

Invariant: one small file that is only replaced as a whole. Its first line is the name of the
current environment, so a launcher in any language can read it.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from installer.bootstrap.paths import PREFIX, Home, locked, write_atomically
from installer.commands import SetupError

ENOUGH_STARTS = 2  # successful starts before the replaced environment is removed
ENOUGH_FAILURES = 2  # failed starts before the replaced environment becomes current again
STARTED = "started"  # a file in an environment, with a line for each successful start


@dataclass(frozen=True)
class CurrentVersion:
    """`current` is the environment in use ("" before the first installation). `previous` is the one
    it replaced, while that is kept. `begun` counts starts of `current` that have not succeeded yet.
    """

    current: str = ""
    previous: str = ""
    begun: int = 0


def read(home: Home) -> CurrentVersion:
    """Read the current pointer; an unreadable file counts as missing."""
    try:
        lines = home.current_file.read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError):
        return CurrentVersion()
    facts = dict(line.split(" ", 1) for line in lines[1:] if " " in line)
    begun = facts.get("begun", "0")
    return CurrentVersion(
        _name(lines[0] if lines else ""),
        _name(facts.get("previous", "")),
        int(begun) if begun.isdecimal() else 0,
    )


def _name(text: str) -> str:
    """Return the text if it is the name of an environment and not a path to somewhere else."""
    return text if re.fullmatch(PREFIX + r"[\w.+!-]+", text) else ""


@contextmanager
def changing(home: Home) -> Iterator[None]:
    """Lock the pointer for reading and writing. The lock is held only briefly, because a start
    waits for it, while it would not wait for an installation.
    """
    with locked(home, "pointer"):
        yield


def write(home: Home, pointer: CurrentVersion) -> None:
    lines = [pointer.current]
    lines += [f"previous {pointer.previous}"] if pointer.previous else []
    lines += [f"begun {pointer.begun}"] if pointer.begun else []
    write_atomically(home.current_file, "\n".join(lines) + "\n")


def switch(home: Home, name: str) -> CurrentVersion:
    """Make a complete environment current and keep the previous one. SetupError if incomplete."""
    if not home.is_complete(name):
        raise SetupError(f"{name} is not complete, so it is not used.")
    with changing(home):
        old = read(home)
        if old.current == name:
            return old
        before = (each for each in (old.current, old.previous) if each != name)
        pointer = CurrentVersion(name, next(filter(home.is_complete, before), ""))
        write(home, pointer)
    return pointer


def roll_back(home: Home) -> CurrentVersion:
    """Make the previous environment current again. SetupError if there is none."""
    with changing(home):
        old = read(home)
        if not home.is_complete(old.previous):
            raise SetupError("There is no earlier version to go back to.")
        pointer = CurrentVersion(old.previous)
        write(home, pointer)
    return pointer


def starts(home: Home, name: str) -> int:
    """Return how often the program of this environment has started, by its own count."""
    try:
        return len((home.env(name) / STARTED).read_bytes().splitlines())
    except OSError:
        return 0


def begin(home: Home) -> CurrentVersion:
    """Count an attempt to start, until one has succeeded."""
    with changing(home):
        found = read(home)
        if not starts(home, found.current):
            found = replace(found, begun=found.begun + 1)
            write(home, found)
    return found


def reset_attempts(home: Home) -> None:
    """Reset the counted attempts, because the program ended normally."""
    if read(home).begun:
        with changing(home):
            write(home, replace(read(home), begun=0))


def drop_previous(home: Home) -> str:
    """Drop the previous version once this one has started often enough; return its name, or ""."""
    with changing(home):
        found = read(home)
        if not found.previous or starts(home, found.current) < ENOUGH_STARTS:
            return ""
        write(home, replace(found, previous=""))
    return found.previous
