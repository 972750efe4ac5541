"""The pointer: the current environment and the one it replaced.

Invariant: one small file that is only replaced as a whole. Its first line is the name of the
current environment, so a launcher in any language can read it. Only a process that holds the lock
of the home writes it.
"""

import re
from dataclasses import dataclass

from installer.bootstrap.paths import PREFIX, Home, opened, write_atomically
from installer.commands import SetupError


@dataclass(frozen=True)
class CurrentVersion:
    """`current` is the environment in use ("" before the first installation). `previous` is the one
    it replaced, which stays until the next update.
    """

    current: str = ""
    previous: str = ""


def read(home: Home) -> CurrentVersion:
    """Read the current pointer; an unreadable file counts as missing."""
    try:
        lines = home.current_file.read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError):
        return CurrentVersion()
    facts = dict(line.split(" ", 1) for line in lines[1:] if " " in line)
    return CurrentVersion(_name(lines[0] if lines else ""), _name(facts.get("previous", "")))


def _name(text: str) -> str:
    """Return the text if it is the name of an environment and not a path to somewhere else."""
    return text if re.fullmatch(PREFIX + r"[\w.+!-]+", text) else ""


def write(home: Home, pointer: CurrentVersion) -> None:
    lines = [pointer.current]
    lines += [f"previous {pointer.previous}"] if pointer.previous else []
    write_atomically(home.current_file, "\n".join(lines) + "\n")


def switch(home: Home, name: str) -> None:
    """Make a complete environment current and keep the previous one. SetupError if incomplete."""
    if not home.is_complete(name):
        raise SetupError(f"{name} is not complete, so it is not used.")
    old = read(home)
    if old.current != name:
        before = (each for each in (old.current, old.previous) if each != name)
        write(home, CurrentVersion(name, next(filter(home.is_complete, before), "")))


def roll_back(home: Home) -> CurrentVersion:
    """Make the previous environment current again. SetupError if there is none."""
    with opened(home):
        old = read(home)
        if not home.is_complete(old.previous):
            raise SetupError("There is no earlier version to go back to.")
        pointer = CurrentVersion(old.previous)
        write(home, pointer)
    return pointer
