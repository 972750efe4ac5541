"""A comparison of systems as a CSV file, or as a table in a terminal."""

import csv
from collections.abc import Sequence
from io import StringIO
from pathlib import Path
from typing import Final

from engine.export.documents import write_texts
from engine.messages.comparison import Compared

COLUMNS: Final = (
    "system", "voice", "first sound, ms", "words before it", "processor share",
    "syllables a second", "seconds", "dry, ms", "note",
)  # fmt: skip


def cells(row: Compared) -> tuple[str, ...]:
    """Return a row's cells as printed. An empty cell means unknown."""
    return (
        row.title,
        row.voice,
        _number(row.first_sound_ms, 0),
        _number(row.words_before, 0),
        _number(row.share, 2),
        _number(row.rate, 1),
        _number(row.seconds, 1),
        _number(row.dry_ms, 0),
        row.note,
    )


def write_comparison(rows: Sequence[Compared], path: Path) -> None:
    """Write the table as CSV. InvalidInput if it cannot be written."""
    text = StringIO()
    csv.writer(text, lineterminator="\n").writerows((COLUMNS, *map(cells, rows)))
    write_texts(path, (text.getvalue(),))


def comparison_table(rows: Sequence[Compared]) -> str:
    """Return the table in columns, with the notes below it."""
    lines = [each[:-1] for each in (COLUMNS, *map(cells, rows))]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    shown = [
        "  ".join(
            cell.ljust(width) if place < 2 else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    ]
    notes = [f"{row.title}: {row.note}" for row in rows if row.note]
    return "\n".join([*shown, *(["", *notes] if notes else [])])


def _number(value: float | None, digits: int) -> str:
    return "" if value is None else f"{value:.{digits}f}"
