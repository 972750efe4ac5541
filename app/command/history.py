"""`rubato history`: list, search, print and remove saved conversations.

Invariant: listing conversations does not create their file, and their content is printed as plain
text.
"""

import argparse
import dataclasses
from datetime import datetime
from typing import TYPE_CHECKING, Any

from app.command.terminal import action, answer, tell, write, write_json
from app.look.plain_text import one_line
from engine import api

if TYPE_CHECKING:
    from engine.api import Store

_ALL = 1_000_000  # no limit: a terminal scrolls


def add_command(commands: Any) -> None:  # Any: argparse names this type only privately
    """Add `history` and its sub-commands to the command line."""
    history = action(commands, "history", _list, "conversations that were kept")
    history.set_defaults(words=[])
    actions = history.add_subparsers(title="actions", metavar="ACTION")
    action(actions, "list", _list, "all, newest first")
    search = action(actions, "search", _list, "those that have each of these words")
    search.add_argument("words", nargs="+", metavar="WORD", help="or how it begins")
    show = action(actions, "show", _show, "what was said in one")
    show.add_argument("number", type=int, metavar="NUMBER")
    remove = action(actions, "remove", _remove, "delete for good")
    remove.add_argument("numbers", type=int, nargs="*", metavar="NUMBER")
    remove.add_argument("--all", action="store_true", help="delete every conversation")


def _list(options: argparse.Namespace) -> int:
    found: tuple[api.KeptConversation, ...] = ()
    if api.history_path().exists():
        with api.Store(api.history_path()) as kept:
            found = kept.listing(" ".join(options.words), _ALL)
    if options.json:
        conversations = [dataclasses.asdict(each) for each in found]
        write_json({"conversations": conversations}, ascii_only=False)
        return 0
    for each in found:
        last = datetime.fromtimestamp(each.last).astimezone()
        write(f"{each.id:5}  {last:%Y-%m-%d %H:%M}  {each.turns:4} turns  {one_line(each.title)}")
        if each.excerpt:
            write(f"{'':37}{one_line(each.excerpt)}")
    if not found:
        tell("Nothing was found." if options.words else "No conversation was kept.")
    return 0


def _show(options: argparse.Namespace) -> int:
    with _kept() as kept:
        write(kept.text(options.number, as_json=options.json).rstrip("\n"))
    return 0


def _remove(options: argparse.Namespace) -> int:
    if bool(options.numbers) == options.all:
        raise api.errors.InvalidInput(
            "Which conversations?", hint="Give numbers of `rubato history list`, or --all."
        )
    with _kept() as kept:
        count = kept.remove(kept.ids() if options.all else options.numbers)
    answer(options, {"removed": count}, f"{count} deleted.")
    return 0 if count or options.all else 1


def _kept() -> "Store":
    if not api.history_path().exists():
        raise api.errors.InvalidInput(
            "No conversation was kept.", hint="The window keeps them, if you want it to."
        )
    return api.Store(api.history_path())
