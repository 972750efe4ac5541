"""The stages `baselines` and `evaluate`: the exported pack is measured on unseen texts, speakers
and seeds, and compared with the synthesisers it learnt from and the formant voice.

Invariant: the table is made from saved parts only, so it can be printed at any time.
"""

import sys
from collections.abc import Sequence

from engine.errors import InvalidInput
from engine.training.card import write_card
from engine.training.judge.figures import Results, details, table
from engine.training.judge.measurements import Measurements
from engine.training.packing import pack_folder
from engine.training.run import Run, write_json
from engine.training.tasks import do_tasks
from engine.translatable import Translatable


def measure_baselines(run: Run) -> None:
    """Measure what the pack will be compared with, and print it; this needs only the corpus's
    texts."""
    measurements = Measurements(run)
    others = [part for part in measurements.baseline_parts if _is_selected(part.name, run.only)]
    try:
        do_tasks("baselines", measurements.baselines, others, run.workers, fresh=True)
    finally:
        sys.stdout.write(_report(measurements, Results()))
    if len(others) == len(measurements.baseline_parts):
        run.finish("baselines", {})


def evaluate_pack(run: Run) -> None:
    """Measure what is not measured yet, print the table, write figures.json and the pack's card.

    With `run.only`, only the parts whose names begin like that; the stage is done once all parts
    are. The baselines come last, because the voice's own figures are wanted first.
    """
    inputs = run.require("corpus", "export")
    measurements = Measurements(run)
    parts = [part for part in measurements.parts if _is_selected(part.name, run.only)]
    cost = [measurements.speed] if _is_selected(measurements.speed.name, run.only) else []
    others = [part for part in measurements.baseline_parts if _is_selected(part.name, run.only)]
    if not (parts or cost or others):
        every = (*measurements.parts, measurements.speed, *measurements.baseline_parts)
        names = ", ".join(part.name for part in every)
        raise InvalidInput(
            "No part begins with {names}.",
            hint=Translatable("Parts: {names}.", names=names),
            names=", ".join(run.only),
        )
    try:
        do_tasks("evaluate", measurements.results, parts, run.workers, fresh=True)
        do_tasks("speed", measurements.results, cost, 1, fresh=True)
        do_tasks("baselines", measurements.baselines, others, run.workers, fresh=True)
    finally:
        text = _report(measurements, measurements.ours())
        sys.stdout.write(text)
        write_json(measurements.results / "figures.json", {"table": text})
        write_card(run, pack_folder(run), {"table": text})
    if measurements.complete:
        run.finish("evaluate", inputs)


def _is_selected(name: str, only: Sequence[str]) -> bool:
    return not only or name.startswith(tuple(only))


def _report(measurements: Measurements, ours: Results) -> str:
    """The table, then each side's details."""
    others = {
        "its sources": measurements.sources(),
        "espeak": measurements.formant(),
        **measurements.beside(),
    }
    sides = {"this voice": ours, **others}
    lists = "".join(f"\n{name}:\n\n{details(results)}" for name, results in sides.items())
    return table(ours, others) + lists
