"""`rubato names`: the list of names and how they are said.

Invariant: what is printed is plain text, and a list that is piped out can be imported again.
"""

import argparse
import dataclasses
import sys
from pathlib import Path
from typing import Any

from app.command.terminal import action, answer, as_json, tell, write
from app.look.plain_text import one_line
from engine import api


def add_command(commands: Any) -> None:  # Any: argparse names this type only privately
    """Add `names` and its sub-commands to the command line."""
    names = commands.add_parser("names", help="names, and how they are said")
    as_json(names, _list)
    actions = names.add_subparsers(title="actions", metavar="ACTION")
    action(actions, "list", _list, "all, oldest first")
    add = action(actions, "add", _add, "add or change one")
    add.add_argument("written", metavar="NAME", help="as it is written")
    add.add_argument(
        "said", nargs="?", default="", metavar="SAID", help="roo-BAH-toh, /phones/ or other words"
    )
    _add_language(add)
    remove = action(actions, "remove", _remove, "take one from the list")
    remove.add_argument("written", metavar="NAME")
    _add_language(remove)
    action(actions, "import", _import, "add those of a file with tabs or commas").add_argument(
        "file", type=Path, metavar="FILE", help="written, said, language"
    )
    export = action(actions, "export", _export, "write all to a file")
    export.add_argument("file", type=Path, metavar="FILE", help="- = standard output")


def _add_language(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--language", choices=api.SPOKEN, help="in which alone it is said so; otherwise in all"
    )


def _list(options: argparse.Namespace) -> int:
    names = api.load_names()
    if not names and not options.json:
        tell("There are no names.")
    return _show(options, "names", names)


def _add(options: argparse.Namespace) -> int:
    name = api.Name(options.written, options.said, options.language or "")
    return _show(options, "added", api.add_names([name]))


def _remove(options: argparse.Namespace) -> int:
    gone = api.remove_names(options.written, options.language)
    if not gone:
        raise api.errors.InvalidInput(
            "'{name}' is not in the list of names.",
            hint="`rubato names list` shows them.",
            name=one_line(options.written),
        )
    return _show(options, "removed", gone)


def _import(options: argparse.Namespace) -> int:
    names = api.add_names(api.read_names(options.file))
    return answer(options, {"added": len(names)}, f"Names imported: {len(names)}.")


def _export(options: argparse.Namespace) -> int:
    names = api.load_names()
    if str(options.file) == "-":
        sys.stdout.write(api.names_as_text(names))
        return 0
    api.write_names(names, options.file)
    return answer(options, {"written": len(names)}, f"Names written: {len(names)}.")


def _show(options: argparse.Namespace, key: str, names: "tuple[api.Name, ...]") -> int:
    if options.json:
        return answer(options, {key: [dataclasses.asdict(name) for name in names]})
    for name in names:
        write("\t".join(map(one_line, dataclasses.astuple(name))).rstrip())
    return 0
