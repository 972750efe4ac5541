"""`rubato compare`: one text by every system there is, one after the other, measured.

Invariant: with --json each row is a line of JSON on standard error as it grows, and standard output
is one document in the end, after a failure too.
"""

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from app.command.terminal import action, own_settings, redraw, tell, write, write_json
from engine import api
from engine.api import Compared, ComparisonState, EngineError, Recital

_LINE = 40  # characters of the line that shows how far it is


def add_command(commands: Any) -> None:  # Any: argparse names this type only privately
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
    if options.json:
        return _compare_for_json(options, recital)
    rows = api.compare(options.text, own_settings(), recital, _show_row)
    redraw(" " * _LINE)
    redraw("")
    write(api.comparison_table(rows))
    return _status(rows)


def _compare_for_json(options: argparse.Namespace, recital: Recital) -> int:
    try:
        rows = api.compare(options.text, own_settings(), recital, _tell_row)
    except EngineError as error:
        texts = [api.translatable.to_json(text) for text in (error.message, error.hint)]
        write_json({"message": error.message, "hint": error.hint, "texts": texts})
        return 1
    write_json({"rows": [row.document() for row in rows]})
    return _status(rows)


def _status(rows: Sequence[Compared]) -> int:
    return 0 if any(row.state is ComparisonState.DONE for row in rows) else 1


def _tell_row(row: Compared) -> None:
    tell(json.dumps({"row": row.document()}))


def _show_row(row: Compared) -> None:
    if row.state in (ComparisonState.LOADING, ComparisonState.SPEAKING):
        redraw(f"{row.title}: {row.state.value} ...".ljust(_LINE))
