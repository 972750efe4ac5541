"""The page with the table of all systems.

Invariant: every row names the part that measured it, so every cell can be measured again; a figure
that was not measured is marked as such, never left out.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from engine.training.comparison.systems import BUILT_IN, MOST_VOICES, System
from engine.training.evaluation.figures import (
    FIGURES,
    UNMEASURED,
    Figure,
    by_voice,
    share_wrong,
)
from engine.training.evaluation.parts import Results, Size

PAGE: Final = "comparison.md"
COMMAND: Final = "python -m engine.training compare"
Columns = Mapping[System, Results]
_LEFT_OUT: Final = "speech at 1.5, 3, 5 and 6.5 syllables a second, clones, resident memory"


@dataclass(frozen=True)
class Claim:
    """A paper's claim about these systems, and the row of the table that should confirm it."""

    text: str
    figure: str
    systems: tuple[str, ...]


_PAPERS: Final = (BUILT_IN, "VoXtream", "SpeakStream", "LLMVoX", "SMLLE")
CLAIMS: Final = (
    Claim("VoXtream sounds first", "first packet at 200 ms a word", _PAPERS),
    Claim("SpeakStream's window costs latency", "words before the first sound", _PAPERS),
    Claim("LLMVoX runs dry first", "dry at 200 ms a word", _PAPERS),
    Claim(
        "VoXtream2 follows a rate best",
        "speaking rate, error",
        (BUILT_IN, "SpeakStream", "SMLLE"),
    ),
)


def table(columns: Columns) -> str:
    """Return the Markdown table with a column for each system."""
    lines = {
        "figure | part": [system.name for system in columns],
        "---|---": ["---"] * len(columns),
    }
    for row in FIGURES:
        lines[f"{row.name} | {row.part}"] = [
            _cell(row, system, results) for system, results in columns.items()
        ]
    for place, name in enumerate(("parameters, millions", "megabytes on the disk")):
        lines[f"{name} | "] = [_known(system, system.extent[place]) for system in columns]
    lines["control of the rate | "] = [system.rate or "none" for system in columns]
    lines["core hours of training, networks | "] = [
        "" if system.hours is None else f"{system.hours:g}" for system in columns
    ]
    return "".join(f"| {name} | {' | '.join(cells)} |\n" for name, cells in lines.items())


def claims_table(columns: Columns) -> str:
    """Return a Markdown table with a row for each claim of a paper."""
    figures = {system.name: (system, each) for system, each in columns.items()}
    by_name = {row.name: row for row in FIGURES}
    lines = []
    for claim in CLAIMS:
        cells = [
            f"{name} {_cell(by_name[claim.figure], *figures[name])}"
            for name in claim.systems
            if name in figures
        ]
        lines.append(f"| {claim.text} | {claim.figure} | {'<br>'.join(cells)} |")
    return "\n".join(("| a paper's claim | figure | here |", "| --- | --- | --- |", *lines, ""))


def write_page(folder: Path, columns: Columns, size: Size, measured: str) -> Path:
    """Write the page and return its file. `measured`: the date and the machine."""
    claims = "\n".join(
        f"- **{system.name}**: {system.headline}."
        + (f" Must show here too: {system.expected}." if system.expected else "")
        + (f" Ours, not the paper's: {system.ours}." if system.ours else "")
        for system in columns
    )
    voices = "\n".join(filter(None, (_by_voice(s.name, f) for s, f in columns.items())))
    text = f"""# The systems of the papers, side by side

Measured {measured}, by `{COMMAND} --into resources`, on one machine. A cell is measured again with
`{COMMAND} --only "SYSTEM/PART" --again`, the column's name and the row's part.
All say the same sentences, drawn from templates that no training draws from, word by word through
an ordinary session, in one thread: {size.sentences} sentences by each of at most {MOST_VOICES} \
voices, {size.short_replies} replies, {size.rate_sentences} sentences at each rate.
Cells hold the median, then the worst, of the voices; of times and counts, of {size.timed} sentences
by the first voice. SPS are syllables a second. Times count processor seconds of the steps, so the
load does not enter; the loudspeaker of these rows begins with the first frame and stands still
("dry") whenever the next is not there in time. Times of different machines cannot be compared, nor
words to the last point, because a processor's rounding decides what is drawn.

{table(columns)}
Not measured in this run: {_LEFT_OUT}. Of the built-in voice they stand in
[its card](starter/CARD.md).

## What the papers say

Do not compare absolute figures: the papers train on 960 to 40,000 hours, ours on some.

{claims}

## What of that shows here

What SpeakStream's and SMLLE's papers claim of their own parts was tried once, on 27 November 2026,
with 338 words and Whisper base (+-5). SpeakStream with one / two / three / four words known had
5.6 / 5.9 / 4.4 / 4.7 % of the words wrong: no difference beyond chance. SMLLE with the best of one
/ two / three / five draws had 7.4 / 4.4 / 4.1 / 3.0 %: as in the paper, the second draw gains most.
Earlier packs learnt without SMLLE's flux, latents and Delete <Bos>: no row was outside of the
others' intervals.

{claims_table(columns)}
## Voice by voice

Words wrong by Whisper, with 95 % intervals.

{voices}
"""
    folder.mkdir(parents=True, exist_ok=True)
    partial = folder / f"{PAGE}.partial"
    partial.write_text(text, encoding="utf-8")
    return partial.replace(folder / PAGE)


# ----------------------------------------------------------------------- cells


def _cell(row: Figure, system: System, results: Results) -> str:
    """Return the printed figure, or the reason why this system has none."""
    if row.part == "rates" and not system.rate:
        return "no rate"
    cell = row.cell(results)
    return system.remark if system.remark and cell == UNMEASURED else cell


def _known(system: System, amount: float | None) -> str:
    return (system.remark or UNMEASURED) if amount is None else f"{amount:.1f}"


def _by_voice(name: str, results: Results) -> str:
    """Return a line with the error rate of each voice; empty if no speech was transcribed."""
    shares = [
        f"{voice} {share_wrong(heard)}" for voice, heard in by_voice(results.sentences).items()
    ]
    return f"- **{name}**: {', '.join(shares)}" if shares else ""
