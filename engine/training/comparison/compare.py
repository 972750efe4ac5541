"""`python -m engine.training compare`: measures every system on this machine and writes one page.

Invariant: the page is made from saved results only, so it can be written whenever this stops. What
is kept beside the page stays, of systems that are not on this machine too.
"""

import platform
import sys
from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path

from engine.errors import InvalidInput
from engine.training.comparison.measure import SIZE, SMALL, Measurement
from engine.training.comparison.page import column, read_columns, table, write_columns, write_page
from engine.training.comparison.systems import SHIPPED, SYSTEMS, System
from engine.training.tasks import Task, begins, do_tasks
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
    size = SMALL if quick else SIZE
    present = [Measurement(system, folder, size) for system in SYSTEMS if system.present]
    tasks = [task for each in present for task in each.tasks if begins(task, only)]
    if not tasks:
        names = ", ".join(task.name for each in present for task in each.tasks)
        raise InvalidInput(
            "No part begins with {names}.",
            hint=Translatable("Parts: {names}.", names=names),
            names=", ".join(only),
        )
    if again:
        for task in tasks:
            task.file(folder).unlink(missing_ok=True)
    timed = {task.name for each in present for task in each.timed}
    try:
        do_tasks("compare", folder, _pick(tasks, timed, inside=False), workers, fresh=True)
        do_tasks("timed", folder, _pick(tasks, timed, inside=True), 1, fresh=True)
    finally:
        sys.stdout.write(_shown(present, quick, into))


def _shown(present: Sequence[Measurement], quick: bool, into: Path | None) -> str:
    """Write the page, if a folder is given, and say where it is, below the table."""
    figures = {each.system: each.figures() for each in present}
    beside = next((f.traces for system, f in figures.items() if system.pack == SHIPPED), ())
    short = " --quick" if quick else ""
    measured = f"{date.today():%Y-%m-%d}, {platform.machine()}{short}"
    kept = read_columns(into) if into is not None else {}
    for each in present:
        shown = replace(figures[each.system], beside=beside)
        own = column(shown, each.pack + short, measured)
        kept[each.system.name] = own.over(kept.get(each.system.name))
    systems = {
        each: kept[each.name] for each in SYSTEMS if each.name in kept and kept[each.name].measured
    }
    if into is None:
        return table(systems)
    write_columns(into, {system.name: each for system, each in systems.items()})
    return f"{table(systems)}{write_page(into, systems, _missing(systems))}\n"


def _pick(tasks: Sequence[Task], names: set[str], *, inside: bool) -> list[Task]:
    return [task for task in tasks if (task.name in names) is inside]


def _missing(systems: Collection[System]) -> str:
    missing = [each for each in SYSTEMS if each not in systems]
    names = [each.name for each in missing if not each.unheard]
    known = [f"{each.unheard}." for each in missing if each.unheard]
    return " ".join([*([f"Not measured yet: {', '.join(names)}."] if names else []), *known])
