"""The page with the table of all systems.

Invariant: every row names the part that measured it, so every cell can be measured again; a figure
that was not measured is marked as such, never left out.
"""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from engine import systems
from engine.nn import stored_weights
from engine.systems import System
from engine.training.evaluation.figures import (
    FIGURES,
    UNMEASURED,
    Figure,
    by_voice,
    share_wrong,
)
from engine.training.evaluation.parts import Results, Size
from engine.tts import packs
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


def folder_of(system: System) -> Path | None:
    """The folder of a system's pack; None if this machine has none."""
    return pack_folder() if system is BUILT_IN else packs.find(system.name)


def table(columns: Columns) -> str:
    """Return the Markdown table with a column for each system."""
    lines = {
        "figure | part": [system.title for system in columns],
        "---|---": ["---"] * len(columns),
    }
    for row in FIGURES:
        lines[f"{row.name} | {row.part}"] = [
            _cell(row, system, results) for system, results in columns.items()
        ]
    sizes = list(map(_size, columns))
    lines["parameters, millions | "] = [parameters for parameters, _ in sizes]
    lines["megabytes on the disk | "] = [megabytes for _, megabytes in sizes]
    lines["control of the rate | "] = [system.rate or "none" for system in columns]
    lines["core hours of training, networks | "] = [
        "" if system.core_hours < 0 else f"{system.core_hours:g}" for system in columns
    ]
    return "".join(f"| {name} | {' | '.join(cells)} |\n" for name, cells in lines.items())


def claims_table(columns: Columns) -> str:
    """Return a Markdown table with a row for each claim of a paper."""
    figures = {system.title: (system, each) for system, each in columns.items()}
    by_name = {row.name: row for row in FIGURES}
    lines = []
    for claim in CLAIMS:
        row = by_name[claim["figure"]]
        cells = [
            f"{name} {_cell(row, *figures[name])}" for name in claim["systems"] if name in figures
        ]
        lines.append(f"| {claim['text']} | {row.name} | {'<br>'.join(cells)} |")
    return "\n".join(("| a paper's claim | figure | here |", "| --- | --- | --- |", *lines, ""))


def write_page(folder: Path, columns: Columns, size: Size, measured: str) -> Path:
    """Write the page and return its file. `measured`: the date and the machine."""
    claims = (
        f"- **{system.title}**: {system.headline}."
        + (f" Must show here too: {system.expected}." if system.expected else "")
        + (f" Ours, not the paper's: {system.ours}." if system.ours else "")
        for system in columns
    )
    voices = (_by_voice(system.title, results) for system, results in columns.items())
    text = _TEMPLATE.read_text(encoding="utf-8").format(
        command="python -m engine.training compare",
        measured=measured,
        size=size,
        most_voices=MOST_VOICES,
        table=table(columns),
        claims="\n".join(claims),
        claims_table=claims_table(columns),
        voices="\n".join(filter(None, voices)),
    )
    folder.mkdir(parents=True, exist_ok=True)
    partial = folder / f"{PAGE}.partial"
    partial.write_text(text, encoding="utf-8")
    return partial.replace(folder / PAGE)


def _cell(row: Figure, system: System, results: Results) -> str:
    """Return the printed figure, or the reason why this system has none."""
    return "no rate" if row.part == "rates" and not system.rate else row.cell(results)


def _size(system: System) -> tuple[str, str]:
    """Return the millions of parameters and the megabytes of a system's pack."""
    if (folder := folder_of(system)) is None:
        return UNMEASURED, UNMEASURED
    tensors = [stored_weights.load(file) for file in folder.glob("*.safetensors")]
    parameters = sum(tensor.numel() for file in tensors for tensor in file.values())
    size = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
    return f"{parameters / 1e6:.1f}", f"{size / 1024**2:.1f}"


def _by_voice(name: str, results: Results) -> str:
    """Return a line with the error rate of each voice; empty if no speech was transcribed."""
    shares = [
        f"{voice} {share_wrong(heard)}" for voice, heard in by_voice(results.sentences).items()
    ]
    return f"- **{name}**: {', '.join(shares)}" if shares else ""
