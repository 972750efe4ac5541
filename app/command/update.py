"""`rubato update`: look for a new version, install it, or go back to the previous one.

Invariant: with --json standard output is one document even after a failure, with the reason in it.
Progress goes to standard error, as lines of JSON then. While the Rubato that runs is in a turn
nothing begins and nothing is put in force.
"""

import argparse
import dataclasses
import json
import time
from collections.abc import Mapping
from typing import Any

from app.command.terminal import redraw, tell, write
from app.presence import remote
from engine.api import EngineError, upkeep

_LOOK_S = 0.5  # how often the Rubato that runs is asked whether its turn is over


def add_command(commands: Any) -> None:  # Any: argparse names this type only privately
    update = commands.add_parser("update", help="look for a new version, and take it")
    which = update.add_mutually_exclusive_group()
    which.add_argument("--check", action="store_true", help="look only")
    which.add_argument("--back", action="store_true", help="the version before this one again")
    update.add_argument("--if-due", action="store_true", help="not within a week of the last look")
    update.add_argument("--json", action="store_true", help="print as JSON")
    update.set_defaults(command=run)


def run(options: argparse.Namespace) -> int:
    if not options.json:
        _tell(_do(options))
        return 0
    try:
        document = _do(options)
    except EngineError as error:
        document = {"state": "failed", "message": error.message, "hint": error.hint}
    write(json.dumps(document, indent=2))
    return 1 if document["state"] == "failed" else 0


def _do(options: argparse.Namespace) -> dict[str, Any]:
    updates = upkeep.updates()
    if options.if_due and not (updates.is_on and updates.is_due()):
        return {"state": "not due"}
    if options.back:
        updates.roll_back()
        return {"state": "back", "installed": upkeep.version()}
    if options.check:
        look = updates.look()
        return {**_document(look), "can_install": look.can_install}
    look = updates.install(_tell_share if options.json else _draw_share, _await_quiet)
    told = _document(look)
    return {**told, "state": "installed"} if look.offer is not None else told


def _await_quiet() -> None:
    """Wait until nobody speaks with the Rubato that runs, if one does."""
    while (state := remote.state()) is not None and state.is_turn:
        time.sleep(_LOOK_S)


def _draw_share(share: float) -> None:
    redraw(f"{share:4.0%}")


def _tell_share(share: float) -> None:
    tell(json.dumps({"part": round(share, 3)}))


def _document(look: "upkeep.Look") -> dict[str, Any]:
    offer = dataclasses.asdict(look.offer) if look.offer is not None else {}
    return {
        "state": look.state.value,
        "installed": look.installed,
        "version": offer.get("version", ""),
        "changes": offer.get("changes", ""),
    }


def _tell(document: Mapping[str, Any]) -> None:
    match document["state"]:
        case "off":
            tell("This copy has no trusted source of updates, so nobody was asked.")
        case "current":
            write(f"{document['installed']} is the newest version.")
        case "offered":
            write(f"{document['version']} is there; `rubato update` takes it.\n")
            write(document["changes"])
        case "installed":
            tell("")
            write(f"{document['version']} is in force from the next start.\n")
            write(document["changes"])
        case "back":
            write("The version before this one is in force from the next start.")
