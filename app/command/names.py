"""`rubato names`: the list of names and how they are said.

Invariant: what is printed is plain text, and a list that is piped out can be imported again.
"""

import argparse
import dataclasses
import sys
from pathlib import Path
from typing import Any

from app.command.terminal import action, answer, tell, write
from app.look.plain_text import one_line
from engine import api


def add_command(commands: Any) -> None:  # Any: argparse names this type only privately
    """Add `names` and its sub-commands to the command line."""
    names = action(commands, "names", _list, "names, and how they are said")
    actions = names.add_subparsers(title="actions", metavar="ACTION")
    action(actions, "list", _list, "all, oldest first")
    add = action(actions, "add", _add, "add or change one", "NAME")
    said = "roo-BAH-toh, /phones/ or other words"
    add.add_argument("said", nargs="?", default="", metavar="SAID", help=said)
    remove = action(actions, "remove", _remove, "take one from the list", "NAME")
    for each in (add, remove):
        only = "in which alone it is said so; otherwise in all"
        each.add_argument("--language", choices=api.SPOKEN, help=only)
    columns = "add those of a file with tabs or commas: written, said, language"
    action(actions, "import", _import, columns, "FILE")
    action(actions, "export", _export, "write all to a file; - = standard output", "FILE")


def _list(options: argparse.Namespace) -> int:
    names = api.load_names()
    if not names and not options.json:
        tell("There are no names.")
    return _show(options, "names", names)


def _add(options: argparse.Namespace) -> int:
    name = api.Name(options.name, options.said, options.language or "")
    return _show(options, "added", api.add_names([name]))


def _remove(options: argparse.Namespace) -> int:
    gone = api.remove_names(options.name, options.language)
    if not gone:
        raise api.errors.InvalidInput(
            "'{name}' is not in the list of names.",
            hint="`rubato names list` shows them.",
            name=one_line(options.name),
        )
    return _show(options, "removed", gone)


def _import(options: argparse.Namespace) -> int:
    names = api.add_names(api.read_names(Path(options.file)))
    return answer(options, {"added": len(names)}, f"Names imported: {len(names)}.")


def _export(options: argparse.Namespace) -> int:
    names = api.load_names()
    if options.file == "-":
        sys.stdout.write(api.names_as_text(names))
        return 0
    api.write_names(names, Path(options.file))
    return answer(options, {"written": len(names)}, f"Names written: {len(names)}.")


def _show(options: argparse.Namespace, key: str, names: "tuple[api.Name, ...]") -> int:
    if options.json:
        return answer(options, {key: [dataclasses.asdict(name) for name in names]})
    for name in names:
        write("\t".join(map(one_line, dataclasses.astuple(name))).rstrip())
    return 0
