"""Choose the environment for a start, and start it.

Invariant: a version that fails to start twice is replaced by the previous one, which is removed
only after the new one has started twice.
"""

import os
import runpy
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from installer.bootstrap import current_version, windows
from installer.bootstrap.paths import Home
from installer.bootstrap.payload import BOOTSTRAPPER
from installer.commands import SetupError

# The file in which app/presence/autostart.py notes a successful start.
STARTED_VARIABLE = "RUBATO_STARTED"


def environment_to_start(home: Home) -> tuple[str, str]:
    """Return the environment to start, and a sentence for the user, or "".

    SetupError if no complete version is installed. Called for a start of the window, not for
    commands.
    """
    try:
        return _choose_and_count(home)
    except OSError:  # a full disk: the start is not counted
        found = current_version.read(home)
        name = found.previous if _has_failed(home, found) else found.current
        return _check_complete(home, name), ""


def _choose_and_count(home: Home) -> tuple[str, str]:
    """Choose as above and count the start. OSError if that cannot be written."""
    found, sentence = current_version.read(home), ""
    if _has_failed(home, found):
        current_version.roll_back(home)
        sentence = f"{found.current} did not start; this is {found.previous} again."
    elif dropped := current_version.drop_previous(home):
        home.remove(dropped)
    _check_complete(home, current_version.read(home).current)
    return current_version.begin(home).current, sentence


def _check_complete(home: Home, name: str) -> str:
    if not home.is_complete(name):
        raise SetupError("Rubato is not installed completely.")
    return name


def _has_failed(home: Home, found: current_version.CurrentVersion) -> bool:
    if not home.is_complete(found.previous):
        return False
    if not home.is_complete(found.current):
        return True
    started = current_version.starts(home, found.current)
    return not started and found.begun >= current_version.ENOUGH_FAILURES


def run(home: Home, name: str, words: Sequence[str]) -> int:
    """Run the program with its arguments; return its exit status. In its own environment it runs in
    this process; from elsewhere it replaces this process (or this process waits, on systems without
    exec).
    """
    os.environ[STARTED_VARIABLE] = str(home.env(name) / current_version.STARTED)
    if Path(sys.prefix).resolve() != home.env(name).resolve():
        program = [str(windows.like_us(home.python(name))), str(home.env(name) / BOOTSTRAPPER)]
        return _become([*program, "run", *words])
    sys.argv = ["rubato", *words]
    try:
        runpy.run_module("app", run_name="__main__", alter_sys=True)
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else int(end.code is not None)
    else:
        status = 0
    if status == 0:
        with suppress(OSError):  # a full disk
            current_version.reset_attempts(home)
    return status


def _become(command: list[str]) -> int:
    sys.stdout.flush()
    if os.name == "nt":  # there execv returns to the shell while the program still runs
        return subprocess.call(command)
    return os.execv(command[0], command)
