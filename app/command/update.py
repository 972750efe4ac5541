"""`rubato update`: look for a new version, install it, or go back to the previous one.

Invariant: with --json standard output is one document even after a failure, with the reason in it.
"""

import argparse
import dataclasses
import json
from collections.abc import Mapping
from typing import Any

from app.command.terminal import redraw, tell, write
from engine.api import EngineError, upkeep


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
    look = updates.install(lambda share: None if options.json else redraw(f"{share:4.0%}"))
    told = _document(look)
    return {**told, "state": "installed"} if look.offer is not None else told


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
