"""`rubato models`: list, get, verify and remove what can be fetched.

Invariant: Ctrl-C stops a download at the next chunk; what was fetched so far is kept and resumed.
"""

import argparse
import dataclasses
import json
import time
from collections.abc import Callable
from typing import Any

from app.command.terminal import redraw, tell, write
from engine import api

REDRAW_S = 0.2  # how often the progress line is drawn
EARS = "whisper-base"  # what the recogniser 'auto' is where it is quick enough


def add_command(commands: Any) -> None:  # Any: argparse names this type only privately
    """Add `models` and its sub-commands to the command line."""
    models = commands.add_parser("models", help="fetch, verify and remove models")
    models.set_defaults(command=_list, json=False)
    actions = models.add_subparsers(title="actions", metavar="ACTION")
    listing = actions.add_parser("list", help="what can be fetched and what is there")
    listing.add_argument("--json", action="store_true", help="print as JSON")
    listing.set_defaults(command=_list)
    for name, run, text in (
        ("get", _get, "fetch a model and what it needs; resumes where it stopped"),
        ("verify", _verify, "compare every file with its hash"),
        ("remove", _remove, "delete a model"),
    ):
        action = actions.add_parser(name, help=text)
        action.add_argument("name", metavar="NAME")
        action.set_defaults(command=run)


def _list(options: argparse.Namespace) -> int:
    entries = api.models()
    if options.json:
        plain = [dataclasses.asdict(entry) for entry in entries]
        write(json.dumps({"models": plain}, indent=2))
        return 0
    for entry in entries:
        write(f"{entry.name:16} {entry.megabytes:6} MB  {entry.state:9} {entry.title}")
        write(f"{'':36}{entry.licence}; {entry.attribution}")
    return 0


def _get(options: argparse.Namespace) -> int:
    for folder in api.fetch_model(options.name, _progress_line()):
        write(f"\n{folder}")
    if options.name == EARS:
        _measure_ears()
    return 0


def _measure_ears() -> None:
    """What was fetched to listen with is used where it is quick enough."""
    pick = api.pick_recogniser(api.bench_recognisers(api.Settings(), tell))
    if pick:
        write(told(pick.recogniser, pick.reason))


def told(recogniser: str, reason: str) -> str:
    """What the recogniser 'auto' is, in a line."""
    return f"Recogniser 'auto': {recogniser}. {reason}"


def _verify(options: argparse.Namespace) -> int:
    faults = api.verify_model(options.name, _progress_line())
    tell("")
    for fault in faults:
        write(fault)
    if not faults:
        write(f"{options.name} is as it was fetched.")
    return 1 if faults else 0


def _remove(options: argparse.Namespace) -> int:
    freed = api.remove_model(options.name)
    if freed:
        write(f"{freed / 1e6:.1f} MB were freed.")
    else:
        write(f"Nothing of {options.name} is here.")
    return 0


def _progress_line() -> Callable[[str, int, int], None]:
    """A function that draws file, bytes done and in total on one line of standard error."""
    drawn = 0.0

    def draw(file: str, done: int, total: int) -> None:
        nonlocal drawn
        now = time.monotonic()
        if now - drawn >= REDRAW_S or done == total:
            drawn = now
            share = f"{100 * done / total:3.0f} %" if total else ""
            redraw(f"{file}  {done / 1e6:.0f} of {total / 1e6:.0f} MB  {share}   ")

    return draw
