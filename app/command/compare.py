"""`rubato compare`: one text by every system there is, one after the other, measured.

Invariant: with --json each row is a line of JSON on standard error as it grows, and standard output
is one document in the end, after a failure too.
"""

import argparse
import json
from pathlib import Path
from typing import Any

from app.command.terminal import (
    action,
    own_settings,
    redraw,
    tell,
    write,
    write_failure,
    write_json,
)
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
