"""Add the commands `compare`, `history` and `wake`.

`rubato compare` measures every system with one text. `rubato history` lists, searches, prints and
removes saved conversations. `rubato wake` trains the wake phrase on this machine.

Invariant: with --json, standard error has the progress as lines of JSON and standard output has
exactly one document, even after a failure. Listing conversations does not create their file, and
their content is printed as plain text. The old wake-phrase model stays in use until a training has
succeeded.
"""

import argparse
import dataclasses
import json
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app.command.terminal import (
    action,
    answer,
    own_settings,
    redraw,
    tell,
    write,
    write_failure,
    write_json,
)
from app.look.plain_text import one_line
from engine import api
from engine.api import Compared, ComparisonState, EngineError, Recital

if TYPE_CHECKING:
    from engine.api import Store

_LINE = 40  # characters of the line that shows the progress
_ALL = 1_000_000  # no limit: a terminal scrolls


def add_compare(commands: Any) -> None:  # Any: argparse names this type only privately
    """Add `compare` to the command line."""
    compare = action(commands, "compare", _compare, "hear and measure all systems with one text")
    compare.add_argument("text", help="a sentence or two, spoken word by word")
    compare.add_argument(
        "--word-delay", type=float, default=200.0, metavar="MS", help="between two words (200)"
    )
    compare.add_argument("--only", default="", metavar="NAMES", help="of these systems, commas")
    compare.add_argument("--aloud", action="store_true", help="play them, in real time")
    compare.add_argument("--out", type=Path, metavar="FOLDER", help="write a WAV of each there")
    compare.add_argument("--csv", type=Path, metavar="FILE", help="write the table as CSV")


def _compare(options: argparse.Namespace) -> int:
    only = tuple(name for name in options.only.split(",") if name)
    recital = Recital(options.word_delay, options.aloud, options.out, options.csv, only)
    show = _tell_row if options.json else _show_row
    try:
        rows = api.compare(options.text, own_settings(), recital, show)
    except EngineError as error:
        if not options.json:
            raise
        return write_failure(error)
    if options.json:
        write_json({"rows": [row.document() for row in rows]})
    else:
        redraw(" " * _LINE)
        redraw("")
        write(api.comparison_table(rows))
    return 0 if any(row.state is ComparisonState.DONE for row in rows) else 1


def _tell_row(row: Compared) -> None:
    tell(json.dumps({"row": row.document()}))


def _show_row(row: Compared) -> None:
    if row.state in (ComparisonState.LOADING, ComparisonState.SPEAKING):
        redraw(f"{row.title}: {row.state.value} ...".ljust(_LINE))


def add_history(commands: Any) -> None:  # Any: argparse names this type only privately
    """Add `history` and its sub-commands to the command line."""
    history = commands.add_parser("history", help="conversations that were kept")
    history.set_defaults(command=_list, words=[])
    actions = history.add_subparsers(title="actions", metavar="ACTION")
    action(actions, "list", _list, "all, newest first").set_defaults(words=[])
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


def add_wake(commands: Any) -> None:  # Any: argparse names this type only privately
    """Add `wake` to the command line."""
    wake = action(commands, "wake", _teach, "teach the wake phrase, in some minutes")
    wake.add_argument("phrase", nargs="?", help="the phrase; the one in the settings if left out")


def _teach(options: argparse.Namespace) -> int:
    phrase = options.phrase or own_settings().wake.phrase
    if not options.json:
        api.teach_wake_phrase(phrase, lambda share: redraw(f"{100 * share:3.0f} %"))
        tell("")
        write(f"“{one_line(phrase)}” was trained. It is used from the next start.")
        return 0

    def tell_share(share: float) -> None:
        tell(json.dumps({"part": round(share, 3)}))

    try:
        file = api.teach_wake_phrase(phrase, tell_share)
    except EngineError as error:
        return write_failure(error, phrase=phrase)
    write_json({"phrase": phrase, "file": file})
    return 0
