"""The stage `evaluate`: what is measured of a pack on unseen texts, speakers and seeds.

The table is made from saved results only, so it can be printed at any time.
"""

import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from engine.atomic_write import replace_file
from engine.errors import InvalidInput
from engine.training.corpus.speakers import cast
from engine.training.corpus.texts import read_texts
from engine.training.evaluation import cloning
from engine.training.evaluation.figures import details, table
from engine.training.evaluation.parts import Parts, Texts, spread
from engine.training.evaluation.voices import pack_hashes, voices_of
from engine.training.packing import FIGURES_FILE, pack_folder, write_card
from engine.training.run import Run, file_hash
from engine.training.tasks import Place, Task, do_tasks, result
from engine.translatable import Translatable

CLONE_SENTENCES: Final = 2


def evaluate_pack(run: Run) -> None:
    """Measure what is not measured yet, print the table, and write the pack's card.

    With `run.only`, only the parts whose names begin like that; the stage is done once all parts
    are. InvalidInput when no part's name begins like that.
    """
    inputs = run.require("corpus", "export")
    folder, texts = run.stage("evaluate"), read_texts(run.stage("corpus"))
    voices, depends = voices_of(str(pack_folder(run))), pack_hashes(pack_folder(run))
    parts = Parts(
        "", voices, Texts(tuple(texts.test), tuple(texts.short)), run.recipe.evaluate, depends
    )
    clones = _clones(run, parts)
    every = (*parts.tasks, *clones)
    asked = chosen(every, run.only)
    try:
        do_tasks("evaluate", folder, asked, run.workers, fresh=True)
    finally:
        found = [result(task, folder) or {} for task in clones]
        results = replace(parts.results(folder), likeness=cloning.likeness(found))
        text = f"{table(results)}\n{details(results)}"
        sys.stdout.write(text)
        replace_file(folder / FIGURES_FILE, text)
        write_card(run, pack_folder(run), text)
    if all(task.file(folder).is_file() for task in every):
        run.finish("evaluate", inputs)


def chosen(tasks: Sequence[Task], only: Sequence[str]) -> list[Task]:
    """The tasks whose names begin with one of `only` (empty = all). InvalidInput for none."""
    asked = [task for task in tasks if not only or task.name.startswith(tuple(only))]
    if not asked:
        raise InvalidInput(
            "No part begins with {names}.",
            hint=Translatable("Parts: {names}.", names=", ".join(task.name for task in tasks)),
            names=", ".join(only),
        )
    return asked


def _clones(run: Run, parts: Parts) -> list[Task]:
    """Clones of held-out speakers, and the named voices that they should not be mistaken for."""
    most = run.recipe.evaluate.clones
    if not most or not cloning.available():
        return []
    corpus, texts = run.stage("corpus"), spread(parts.texts.sentences, CLONE_SENTENCES)
    hashes = (*parts.depends, file_hash(corpus / "manifest.json"))
    people = [person.number for person in cast(run.recipe) if person.held_out][:most]
    places = (Place(pack_folder(run)), Place(corpus))
    return [
        *(Task(f"cloning/{n}", cloning.clone, (*places, n, texts), hashes) for n in people),
        *(Task(f"cloning/{v.name}", cloning.named, (v, texts), hashes) for v in parts.voices),
    ]
