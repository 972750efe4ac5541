"""`python -m engine.training compare`: measures every system on this machine and writes one page.

Invariant: the page is made from saved results only, so it can be written whenever this stops, and
the same command goes on where it stopped.
"""

import platform
import sys
from collections.abc import Sequence
from datetime import date
from pathlib import Path

from engine.errors import InvalidInput
from engine.training.comparison.measure import SIZE, SMALL, Measurement
from engine.training.comparison.page import table, write_page
from engine.training.comparison.systems import SYSTEMS
from engine.training.tasks import begins, do_tasks
from engine.translatable import Translatable


def compare(
    folder: Path,
    *,
    only: Sequence[str] = (),
    workers: int = 1,
    quick: bool = False,
    again: bool = False,
    into: Path | None = None,
) -> None:
    """Run the unfinished parts whose names begin with one of `only` (empty = all parts), print the
    table, and write the page `into` a folder. InvalidInput when no part's name begins like that.
    """
    folder.mkdir(parents=True, exist_ok=True)
    all_of_them = [Measurement(system, folder, SMALL if quick else SIZE) for system in SYSTEMS]
    parts = [task for each in all_of_them for task in each.tasks]
    tasks = [task for task in parts if begins(task, only)]
    if not tasks:
        raise InvalidInput(
            "No part begins with {names}.",
            hint=Translatable("Parts: {names}.", names=", ".join(task.name for task in parts)),
            names=", ".join(only),
        )
    if again:
        for task in tasks:
            task.file(folder).unlink(missing_ok=True)
    # Each system's model is loaded once where its parts follow each other.
    try:
        do_tasks("compare", folder, tasks, workers, fresh=True)
    finally:
        columns = {each.system: each.figures() for each in all_of_them}
        measured = f"{date.today():%Y-%m-%d}, {platform.machine()}{' --quick' if quick else ''}"
        sys.stdout.write(table(columns))
        if into is not None:
            sys.stdout.write(f"{write_page(into, columns, measured)}\n")
