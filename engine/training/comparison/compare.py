"""`python -m engine.training compare`: measure every system on this machine and write one page.

Invariant: all systems get the same sentences, drawn from templates of our grammar that training
never uses. The page is made from saved results only, so it is written even after an interruption,
and the same command continues from there.
"""

import platform
import random
import sys
from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from functools import cache
from pathlib import Path
from typing import Final

from engine.training.comparison.page import table, write_page
from engine.training.comparison.systems import SYSTEMS, System
from engine.training.corpus import grammar
from engine.training.evaluation.parts import Parts, Results, Size, Texts, chosen
from engine.training.evaluation.voices import depends_on
from engine.training.tasks import do_tasks

# Little enough for all systems to be done in one sitting.
SIZE: Final = Size(
    sentences=40, naturalness=16, short_replies=24, rates=(2.0, 4.0, 6.0), rate_sentences=8,
    timed=6,
)  # fmt: skip
SMALL: Final = replace(SIZE, sentences=4, naturalness=1, short_replies=4, rate_sentences=2, timed=2)


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
    table, and write the page `into` a folder. InvalidInput if no part has such a name.
    """
    folder.mkdir(parents=True, exist_ok=True)
    present = {each: parts_of(each, SMALL if quick else SIZE) for each in SYSTEMS if each.present}
    asked = chosen([task for parts in present.values() for task in parts.tasks], only)
    if again:
        for task in asked:
            task.file(folder).unlink(missing_ok=True)
    # Each system's model is loaded once where its parts follow each other.
    try:
        do_tasks("compare", folder, asked, workers)
    finally:
        columns = dict.fromkeys(SYSTEMS, Results())
        columns |= {system: parts.results(folder) for system, parts in present.items()}
        measured = f"{date.today():%Y-%m-%d}, {platform.machine()}{' --quick' if quick else ''}"
        sys.stdout.write(table(columns))
        if into is not None:
            sys.stdout.write(f"{write_page(into, columns, SIZE, measured)}\n")


def parts_of(system: System, size: Size) -> Parts:
    """Return the parts to measure of an installed system. A system whose rate cannot be changed has
    no parts about rates.
    """
    voices = system.voices()
    own = size if system.rate else replace(size, rates=())
    return Parts(system.name, voices, fixed_texts(), own, depends_on(voices[0].source))


@cache
def fixed_texts() -> Texts:
    """Return sentences and replies that no system was trained on, always the same ones."""
    draw = random.Random("comparison")
    sentences: set[str] = set()
    while len(sentences) < SIZE.sentences:
        sentences.add(grammar.test_sentence(draw))
    replies = {grammar.short_reply(draw) for _ in range(10 * SIZE.short_replies)}
    return Texts(tuple(sorted(sentences)), tuple(sorted(replies)))
