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

from engine import systems
from engine.errors import ModelError
from engine.settings import SpeechSettings
from engine.systems import System
from engine.training.comparison.page import MOST_VOICES, SYSTEMS, folder_of, table, write_page
from engine.training.corpus import grammar
from engine.training.evaluation.parts import Results, Size, Texts, chosen, read_results, tasks_of
from engine.training.evaluation.voices import depends_on, voices_of
from engine.training.tasks import Task, do_tasks
from engine.tts.voice_catalogue import of_settings

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
    present = {each: parts_of(each, SMALL if quick else SIZE) for each in SYSTEMS if is_here(each)}
    asked = chosen([task for parts in present.values() for task in parts], only)
    if again:
        for task in asked:
            task.file(folder).unlink(missing_ok=True)
    # Each system's model is loaded once where its parts follow each other.
    try:
        do_tasks("compare", folder, asked, workers)
    finally:
        columns = dict.fromkeys(SYSTEMS, Results())
        columns |= {system: read_results(parts, folder) for system, parts in present.items()}
        measured = f"{date.today():%Y-%m-%d}, {platform.machine()}{' --quick' if quick else ''}"
        sys.stdout.write(table(columns))
        if into is not None:
            sys.stdout.write(f"{write_page(into, columns, SIZE, measured)}\n")


def is_here(system: System) -> bool:
    """Return True if a system can be measured on this machine."""
    try:
        return bool(of_settings(SpeechSettings(engine=system.name)))
    except ModelError:
        return False


def parts_of(system: System, size: Size) -> tuple[Task, ...]:
    """Return the parts to measure of an installed system. A system whose rate cannot be changed has
    no parts about rates.
    """
    most = 1 if system.name == systems.ESPEAK else MOST_VOICES  # its voices differ in pitch alone
    voices = voices_of(str(folder_of(system) or system.name), most=most)
    own = size if system.rate else replace(size, rates=())
    return tasks_of(system.title, voices, fixed_texts(), own, depends_on(voices[0].source))


@cache
def fixed_texts() -> Texts:
    """Return sentences and replies that no system was trained on, always the same ones."""
    draw = random.Random("comparison")
    sentences: set[str] = set()
    while len(sentences) < SIZE.sentences:
        sentences.add(grammar.test_sentence(draw))
    replies = {grammar.short_reply(draw) for _ in range(10 * SIZE.short_replies)}
    return Texts(tuple(sorted(sentences)), tuple(sorted(replies)))
