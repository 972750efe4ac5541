"""`python -m engine.training compare`: measures every system on this machine and writes one page.

Invariant: the page is made from saved results only, so it can be written whenever this stops.
"""

import platform
import sys
from collections.abc import Sequence
from datetime import date
from pathlib import Path

from engine.errors import InvalidInput
from engine.training.comparison.measure import SIZE, SMALL, Measurement
from engine.training.comparison.page import table, write_page
from engine.training.comparison.systems import CLAIMS, SYSTEMS
from engine.training.tasks import Task, do_tasks


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
    size = SMALL if quick else SIZE
    present = [Measurement(system, folder, size) for system in SYSTEMS if system.present]
    tasks = [task for each in present for task in each.tasks if _begins(task.name, only)]
    if not tasks:
        names = ", ".join(task.name for each in present for task in each.tasks)
        raise InvalidInput(f"No part begins with {', '.join(only)}.", hint=f"Parts: {names}.")
    if again:
        for task in tasks:
            task.file(folder).unlink(missing_ok=True)
    timed = {task.name for each in present for task in each.timed}
    try:
        do_tasks("compare", folder, _pick(tasks, timed, inside=False), workers, fresh=True)
        do_tasks("timed", folder, _pick(tasks, timed, inside=True), 1, fresh=True)
    finally:
        figures = {each.system: each.figures() for each in present}
        sys.stdout.write(table(figures))
        if into is not None:
            sys.stdout.write(f"{write_page(into, figures, _about(quick))}\n")


def _begins(name: str, only: Sequence[str]) -> bool:
    return not only or name.startswith(tuple(only))


def _pick(tasks: Sequence[Task], names: set[str], *, inside: bool) -> list[Task]:
    return [task for task in tasks if (task.name in names) is inside]


def _about(quick: bool) -> str:
    missing = [each.name for each in SYSTEMS if not each.present and each not in CLAIMS]
    return (
        f"Measured on {date.today():%Y-%m-%d} on {platform.machine()}, one thread."
        + (" A few sentences only (--quick)." if quick else "")
        + (f" Not on this machine: {', '.join(missing)}." if missing else "")
    )
