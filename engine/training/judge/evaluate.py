"""The stages `baselines` and `evaluate`: the exported pack measured on text, speakers and seeds it
never met, beside the synthesisers it learnt from and the formant voice.

Invariant: the table is made from kept parts alone, so it can be printed whenever one stops.
"""

import sys
from collections.abc import Sequence

from engine.errors import InvalidInput
from engine.training.card import write_card
from engine.training.export import pack_folder
from engine.training.judge.figures import Heard, details, table
from engine.training.judge.measurements import Measurements
from engine.training.parts import do_parts
from engine.training.run import Run, write_json


def measure_baselines(run: Run) -> None:
    """Measure what the pack will be compared with, and print it; needs the corpus's texts only."""
    measured = Measurements(run)
    others = [part for part in measured.baseline_parts if _asked(part.name, run.only)]
    try:
        do_parts("baselines", measured.baselines, others, run.workers, fresh=True)
    finally:
        sys.stdout.write(_report(measured, Heard()))
    if len(others) == len(measured.baseline_parts):
        run.finish("baselines", {})


def evaluate_pack(run: Run) -> None:
    """Measure what is not measured yet, print the table, write figures.json and the pack's card.

    With `run.only`: the parts whose names begin so; the stage is done once all parts are. What is
    compared with comes last: the voice's own figures are awaited most.
    """
    inputs = run.require("corpus", "export")
    measured = Measurements(run)
    asked = [part for part in measured.parts if _asked(part.name, run.only)]
    cost = [measured.speed] if _asked(measured.speed.name, run.only) else []
    others = [part for part in measured.baseline_parts if _asked(part.name, run.only)]
    if not (asked or cost or others):
        every = (*measured.parts, measured.speed, *measured.baseline_parts)
        names = ", ".join(part.name for part in every)
        raise InvalidInput(f"No part begins with {', '.join(run.only)}.", hint=f"Parts: {names}.")
    try:
        do_parts("evaluate", measured.results, asked, run.workers, fresh=True)
        do_parts("speed", measured.results, cost, 1, fresh=True)
        do_parts("baselines", measured.baselines, others, run.workers, fresh=True)
    finally:
        text = _report(measured, measured.ours())
        sys.stdout.write(text)
        write_json(measured.results / "figures.json", {"table": text})
        write_card(run, pack_folder(run), {"table": text})
    if measured.complete:
        run.finish("evaluate", inputs)


def _asked(name: str, only: Sequence[str]) -> bool:
    return not only or name.startswith(tuple(only))


def _report(measured: Measurements, ours: Heard) -> str:
    """The table, then each side's details."""
    others = {"its sources": measured.sources(), "espeak": measured.formant(), **measured.beside()}
    sides = {"this voice": ours, **others}
    lists = "".join(f"\n{name}:\n\n{details(heard)}" for name, heard in sides.items())
    return table(ours, others) + lists
