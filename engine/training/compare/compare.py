"""`python -m engine.training compare`: measure every system on this machine and write one page.

Invariants: all systems get the same sentences, drawn from templates of our grammar that training
never uses. The page is made from saved results only, so it is written even after an interruption,
and the same command continues from there. Every row names the part that measured it, so every cell
can be measured again; a figure that was not measured is marked as such.
"""

import platform
import random
import sys
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any, Final

from engine.atomic_write import replace_file
from engine.errors import InvalidInput, ModelError
from engine.nn import weights_file
from engine.settings import SpeechSettings, systems
from engine.settings.systems import System
from engine.training.corpus import grammar
from engine.training.evaluation import parts
from engine.training.evaluation.parts import Results
from engine.training.evaluation.voices import depends_on, voices_of
from engine.training.run import Task, do_tasks
from engine.tts import packs
from engine.tts.registry import of_settings
from engine.tts.voxtream.files.paths import pack_folder

PAGE: Final = "comparison.md"
MOST_VOICES: Final = 2  # of a system
Columns = Mapping[System, Results]
_TEMPLATE: Final = Path(__file__).with_name("page.md")
_TABLE: Final[dict[str, Any]] = tomllib.loads(
    Path(__file__).with_name("systems.toml").read_text(encoding="utf-8")
)
BUILT_IN: Final = System(**_TABLE["built_in"])
SYSTEMS: Final = (BUILT_IN, *systems.SYSTEMS, *(System(**each) for each in _TABLE["others"]))
CLAIMS: Final[list[dict[str, Any]]] = _TABLE["claims"]
# Little enough for all systems to be done in one sitting.
SIZE: Final = parts.Size(
    sentences=40, naturalness=16, short_replies=24, rates=(2.0, 4.0, 6.0), rate_sentences=8,
    timed=6,
)  # fmt: skip


def compare(
    folder: Path,
    only: Sequence[str] = (),
    workers: int = 1,
    *,
    again: bool = False,
    into: Path | None = None,
) -> None:
    """Run the unfinished parts whose names begin with one of `only` (empty = all parts), print the
    table, and write the page `into` a folder. InvalidInput if no part has such a name.
    """
    folder.mkdir(parents=True, exist_ok=True)
    present = {each: parts_of(each) for each in SYSTEMS if is_here(each)}
    # Each system's model is loaded once where its parts follow each other.
    every = [task for tasks in present.values() for task in tasks]
    asked = [task for task in every if not only or task.name.startswith(tuple(only))]
    if not asked:
        hint = f"Parts: {', '.join(task.name for task in every)}."
        raise InvalidInput(f"No part begins with {', '.join(only)}.", hint=hint)
    if again:
        for task in asked:
            task.file(folder).unlink(missing_ok=True)
    try:
        do_tasks("compare", folder, asked, workers)
    finally:
        columns = {each: parts.read_results(present.get(each, ()), folder) for each in SYSTEMS}
        measured = f"{date.today():%Y-%m-%d}, {platform.machine()}"
        sys.stdout.write(table(columns))
        if into is not None:
            sys.stdout.write(f"{write_page(into, columns, measured)}\n")


def is_here(system: System) -> bool:
    """Return True if a system can be measured on this machine."""
    try:
        return bool(of_settings(SpeechSettings(engine=system.name)))
    except ModelError:
        return False


def parts_of(system: System) -> tuple[Task, ...]:
    """Return the parts to measure of an installed system; none about rates if it has no rate."""
    most = 1 if system.name == systems.ESPEAK else MOST_VOICES  # its voices differ in pitch alone
    voices = voices_of(str(folder_of(system) or system.name), most=most)
    own = SIZE if system.rate else replace(SIZE, rates=())
    return parts.tasks_of(system.title, voices, fixed_texts(), own, depends_on(voices[0].source))


@cache
def fixed_texts() -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return sentences and replies that no system was trained on, always the same ones."""
    draw = random.Random("comparison")
    sentences: set[str] = set()
    while len(sentences) < SIZE.sentences:
        sentences.add(grammar.sentence("test", draw))
    replies = {grammar.sentence("short", draw) for _ in range(10 * SIZE.short_replies)}
    return tuple(sorted(sentences)), tuple(sorted(replies))


def folder_of(system: System) -> Path | None:
    """The folder of a system's pack; None if this machine has none."""
    return pack_folder() if system is BUILT_IN else packs.find(system.name)


def table(columns: Columns) -> str:
    """Return the Markdown table with a column for each system."""
    sizes = list(map(_size, columns))
    hours = ["" if each.core_hours < 0 else f"{each.core_hours:g}" for each in columns]
    lines = [
        ("figure | part", [system.title for system in columns]),
        ("---|---", ["---"] * len(columns)),
        *(
            (f"{row.name} | {row.part}", [_cell(row, *column) for column in columns.items()])
            for row in parts.FIGURES
        ),
        ("parameters, millions | ", [parameters for parameters, _ in sizes]),
        ("megabytes on the disk | ", [megabytes for _, megabytes in sizes]),
        ("control of the rate | ", [system.rate or "none" for system in columns]),
        ("core hours of training, networks | ", hours),
    ]
    return "".join(f"| {name} | {' | '.join(cells)} |\n" for name, cells in lines)


def claims_table(columns: Columns) -> str:
    """Return a Markdown table with a row for each claim of a paper."""
    rows = {row.name: row for row in parts.FIGURES}
    lines = ["| a paper's claim | figure | here |", "| --- | --- | --- |"]
    for claim in CLAIMS:
        cells = [
            f"{system.title} {_cell(rows[claim['figure']], system, results)}"
            for system, results in columns.items()
            if system.title in claim["systems"]
        ]
        lines.append(f"| {claim['text']} | {claim['figure']} | {'<br>'.join(cells)} |")
    return "\n".join((*lines, ""))


def write_page(folder: Path, columns: Columns, measured: str) -> Path:
    """Write the page and return its file. `measured`: the date and the machine."""
    claims = (
        f"- **{system.title}**: {system.headline}."
        + (f" Must show here too: {system.expected}." if system.expected else "")
        + (f" Ours, not the paper's: {system.ours}." if system.ours else "")
        for system in columns
    )
    voices = (
        f"- **{system.title}**: "
        + ", ".join(
            f"{name} {parts.share_wrong(heard)}"
            for name, heard in parts.by_voice(results.sentences).items()
        )
        for system, results in columns.items()
        if results.sentences
    )
    text = _TEMPLATE.read_text(encoding="utf-8").format(
        command="python -m engine.training compare",
        measured=measured,
        size=SIZE,
        most_voices=MOST_VOICES,
        table=table(columns),
        claims="\n".join(claims),
        claims_table=claims_table(columns),
        voices="\n".join(voices),
    )
    folder.mkdir(parents=True, exist_ok=True)
    replace_file(folder / PAGE, text, mode=0o644)
    return folder / PAGE


def _cell(row: parts.Figure, system: System, results: Results) -> str:
    """Return the printed figure, or the reason why this system has none."""
    return "no rate" if row.part == "rates" and not system.rate else row.cell(results)


def _size(system: System) -> tuple[str, str]:
    """Return the millions of parameters and the megabytes of a system's pack."""
    if (folder := folder_of(system)) is None:
        return parts.UNMEASURED, parts.UNMEASURED
    tensors = [weights_file.load(file) for file in folder.glob("*.safetensors")]
    parameters = sum(tensor.numel() for file in tensors for tensor in file.values())
    size = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
    return f"{parameters / 1e6:.1f}", f"{size / 1024**2:.1f}"
