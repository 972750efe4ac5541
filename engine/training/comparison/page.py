"""The page with the table of all systems, and plots of what a table hides. Its columns are kept
beside it, so that it grows over several machines: a pack is lost with the machine that made it,
what was heard of it is not.

Invariant: every row names the part that measured it, so every cell can be measured again; a figure
that was not measured is marked as such, never left out. A cell changes only where it is measured
anew, or when another pack has taken the place of the one that was measured.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import median
from typing import Final

from engine.training.comparison.measure import SIZE, SMALL, Figures
from engine.training.comparison.plot import Line, plot
from engine.training.comparison.systems import System
from engine.training.judge.figures import UNMEASURED, Goal, Results, details, goals
from engine.training.judge.verdicts import errors
from engine.training.run import read_json, write_json
from engine.tts.delays import (
    DELAYS_S,
    Timing,
    Trace,
    factor,
    timing,
    words_before_sound,
)

PAGE: Final = "comparison.md"
COMMAND: Final = "python -m engine.training compare"
# The part that measures a figure, by how its name begins; the first match counts.
_PARTS: Final = {
    "clone": "cloning", "likeness": "cloning", "long text": "long", "slider": "steps",
    "SPS": "rates", "rate": "rates", "replies": "replies", "memory": "memory",
}  # fmt: skip
_OF_RATE: Final = {"rates", "steps"}
_LEFT_OUT: Final = ("processor time",)  # measured from traces here
_PAPERS: Final = ("VoXtream", "VoXtream2 (equal budget)", "SpeakStream", "LLMVoX", "SMLLE")
_TIMES: Final[dict[str, tuple[Callable[[Timing], float], str]]] = {
    "first packet": (lambda t: 1000 * t.first_packet_s, "{:.0f} ms"),
    "first audible sound": (lambda t: 1000 * t.first_audible_s, "{:.0f} ms"),
    "dry": (lambda t: t.dry_s, "{:.2f} s"),
    "times dry": (lambda t: t.dry_times, "{:.0f}"),
    "tail after the last word": (lambda t: t.tail_s, "{:.2f} s"),
}
_RATIOS: Final[dict[str, Callable[[Trace], float]]] = {
    "first packet at 0 ms a word": lambda trace: timing(trace, 0.0).first_packet_s,
    "processor time per second": factor,
}
FILE: Final = "comparison.json"


@dataclass(frozen=True)
class Column:
    """One system: texts by the name of the row or line, and points of the plots, as shown."""

    pack: str  # fingerprint of the files that were heard
    measured: str = ""  # when and on what; empty = it was not
    cells: Mapping[str, str] = field(default_factory=dict)
    details: Mapping[str, str] = field(default_factory=dict)
    delays: Mapping[str, float] = field(default_factory=dict)  # ms between words -> ms to the sound
    rates: Mapping[str, float] = field(default_factory=dict)  # SPS asked for -> % of words wrong

    def over(self, earlier: "Column | None") -> "Column":
        """This one where it has something, the earlier one of the same pack elsewhere; the earlier
        one where nothing was measured.
        """
        if earlier is not None and not self.measured:
            return earlier
        if earlier is None or earlier.pack != self.pack:
            return self
        return Column(
            self.pack,
            self.measured,
            {**earlier.cells, **self.cells},
            {**earlier.details, **self.details},
            {**earlier.delays, **self.delays},
            {**earlier.rates, **self.rates},
        )


@dataclass(frozen=True)
class Row:
    """A figure: its name, the part that measures it, and its cell for a system."""

    name: str
    part: str
    cell: Callable[[Figures], str]


def write_page(folder: Path, systems: Mapping[System, Column], about: str) -> Path:
    """Write the page and its plots; returns the page. `about` says what is not on it."""
    folder.mkdir(parents=True, exist_ok=True)
    plots = {
        "comparison-delay.svg": plot(
            "First audible sound",
            "milliseconds between words",
            "milliseconds",
            _lines({system.name: column.delays for system, column in systems.items()}),
        ),
        "comparison-rate.svg": plot(
            "Words wrong, Whisper",
            "rate asked for, SPS",
            "%",
            _lines({system.name: column.rates for system, column in systems.items()}),
        ),
    }
    for name, svg in plots.items():
        _write(folder / name, svg)
    page = folder / PAGE
    _write(page, _page(systems, about, list(plots)))
    return page


def column(figures: Figures, pack: str, measured: str) -> Column:
    """What there is to be shown of these figures; nothing for what was not measured."""
    cells = {row.name: row.cell(figures) for row in rows()}
    known = {name: cell for name, cell in cells.items() if cell != UNMEASURED}
    is_measured = any(row.part and row.name in known for row in rows())
    lines = [line.removeprefix("- ") for line in details(figures.results).splitlines() if line]
    return Column(
        pack,
        measured if is_measured else "",
        known,
        dict(line.split(": ", 1) for line in lines),
        {
            f"{1000 * delay:g}": 1000
            * median(timing(trace, delay).first_audible_s for trace in figures.traces)
            for delay in DELAYS_S
            if figures.traces
        },
        {
            f"{rate:g}": 100 * share
            for rate, verdicts in sorted(figures.results.rates.items())
            if (share := errors(verdicts)) is not None
        },
    )


def rows() -> list[Row]:
    """All figures, in the order of the table."""
    speech_goals = [goal for goal in goals(Results()) if not goal.name.startswith(_LEFT_OUT)]
    return [
        *(Row(goal.name, _part(goal.name), _shown(goal)) for goal in speech_goals),
        Row(
            "words before the first sound", "delays", lambda f: _of(f, words_before_sound, "{:.0f}")
        ),
        *(
            Row(f"{name} at {1000 * delay:.0f} ms a word", "delays", _timed(value, delay, form))
            for name, (value, form) in _TIMES.items()
            for delay in DELAYS_S
        ),
        Row("processor time per second of speech", "delays", lambda f: _of(f, factor, "{:.2f}")),
        *(
            Row(f"{name}, times the shipped voice's in the same run", "delays", _ratio(value))
            for name, value in _RATIOS.items()
        ),
        Row("parameters, millions", "", lambda f: _known(f.parameters, 1e6)),
        Row("megabytes on the disk", "", lambda f: _known(f.disk_megabytes)),
    ]


def table(systems: Mapping[System, Column]) -> str:
    """The Markdown table, one column for each system."""
    lines = {
        "figure | part": [system.name for system in systems],
        "---|---": ["---"] * len(systems),
        "measured last | ": [column.measured or UNMEASURED for column in systems.values()],
    }
    for row in rows():
        lines[f"{row.name} | {row.part}"] = [
            _cell(row, system, column) for system, column in systems.items()
        ]
    lines["control of the rate | "] = [system.rate or "none" for system in systems]
    lines["core hours of training, networks | "] = [
        UNMEASURED if system.hours is None else f"{system.hours:g}" for system in systems
    ]
    return "".join(f"| {name} | {' | '.join(cells)} |\n" for name, cells in lines.items())


def _page(systems: Mapping[System, Column], about: str, plots: Sequence[str]) -> str:
    claims = "\n".join(
        f"- **{system.name}**: {system.headline}."
        + (f" Must show here too: {system.expected}." if system.expected else "")
        + (f" Ours, not the paper's: {system.ours}." if system.ours else "")
        + (f" Its pack is made by `{system.command}`." if system.command else "")
        for system in systems
    )
    lists = "".join(
        f"\n{system.name}:\n\n"
        + "".join(f"- {name}: {text}\n" for name, text in column.details.items())
        for system, column in systems.items()
    )
    missing = f"\n{about}\n" if about else ""
    return f"""# The systems of the papers, side by side
{missing}
Made by `{COMMAND} --into resources`. A cell can be measured again with
`{COMMAND} --only "SYSTEM/PART" --again`, the column's name and the row's part. All say the same
sentences, drawn from templates that no training draws from, word by word through an ordinary
session, in one thread. Cells hold the median, then the worst, of all voices; of times and counts,
of {len(DELAYS_S)} delays and the first voice, median and worst of the sentences. SPS are syllables
a second. A column keeps what was measured of its pack until that is measured anew; with `--quick`
of {SMALL.sentences} sentences a voice, not {SIZE.sentences}, and of fewer of all others. Times of
different days and machines cannot be compared, their ratios to the shipped voice's can: it is
measured in the same run. Times count processor seconds of the steps, so the load does not enter:
the loudspeaker of these rows begins with the first frame and stands still ("dry") whenever the next
is not there in time.

{table(systems)}
{"".join(f"![]({name}){chr(10)}" for name in plots)}
## What the papers say

Do not compare absolute figures: the papers train on 960 to 40,000 hours, ours on 12 (the shipped
voice on 18 of its own).

{claims}

## What of that shows here

What those of SpeakStream and SMLLE claim of their own parts was tried once:
[variants](comparison-variants.md).

{claims_table({system.name: column for system, column in systems.items()})}
## Voice by voice
{lists}"""


@dataclass(frozen=True)
class Claim:
    """What a paper says and the row of the table that should show it, of these systems."""

    text: str
    figure: str
    systems: tuple[str, ...]


CLAIMS: Final = (
    Claim("VoXtream sounds first", "first packet at 200 ms a word", _PAPERS),
    Claim("LLMVoX runs dry first", "dry at 200 ms a word", _PAPERS),
    Claim(
        "VoXtream2 follows a rate best",
        "speaking rate, error",
        ("VoXtream2 (shipped)", "VoXtream2 (equal budget)", "SpeakStream", "SMLLE"),
    ),
)


def claims_table(columns: Mapping[str, Column]) -> str:
    """A Markdown table, a row for each claim, of columns by their system's name."""

    def figure(claim: Claim, name: str) -> str:
        cells = columns[name].cells if name in columns else {}
        return f"{name} {cells.get(claim.figure, UNMEASURED)}"

    lines = [
        f"| {claim.text} | {claim.figure} | "
        f"{'<br>'.join(figure(claim, name) for name in claim.systems)} |"
        for claim in CLAIMS
    ]
    return "\n".join(("| a paper's claim | figure | here |", "| --- | --- | --- |", *lines, ""))


def _write(file: Path, text: str) -> None:
    partial = file.with_name(f"{file.name}.partial")
    partial.write_text(text, encoding="utf-8")
    partial.replace(file)


# ----------------------------------------------------------------------- cells


def _cell(row: Row, system: System, column: Column) -> str:
    """The figure, or why this system has none."""
    if row.part in _OF_RATE and not system.rate:
        return "no rate"
    if row.part == "cloning" and not system.can_clone:
        return "no clones"
    return column.cells.get(row.name, UNMEASURED)


def _part(name: str) -> str:
    return next((part for key, part in _PARTS.items() if key in name), "sentences")


def _shown(goal: Goal) -> Callable[[Figures], str]:
    return lambda figures: goal.cell(figures.results)


def _known(amount: float | None, unit: float = 1.0) -> str:
    return UNMEASURED if amount is None else f"{amount / unit:.1f}"


def _of(figures: Figures, value: Callable[[Trace], float], form: str) -> str:
    """Median and worst of the sentences."""
    values = [value(trace) for trace in figures.traces]
    if not values:
        return UNMEASURED
    return f"{form.format(median(values))} / {form.format(max(values))}"


def _timed(value: Callable[[Timing], float], delay_s: float, form: str) -> Callable[[Figures], str]:
    return lambda figures: _of(figures, lambda trace: value(timing(trace, delay_s)), form)


def _ratio(value: Callable[[Trace], float]) -> Callable[[Figures], str]:
    """Of the medians of this system and the shipped one."""

    def cell(figures: Figures) -> str:
        if not (figures.traces and figures.beside):
            return UNMEASURED
        own, shipped = (median(map(value, each)) for each in (figures.traces, figures.beside))
        return f"{own / shipped:.2f}"

    return cell


def _lines(points: Mapping[str, Mapping[str, float]]) -> list[Line]:
    return [Line(name, [(float(x), y) for x, y in each.items()]) for name, each in points.items()]


def read_columns(folder: Path) -> dict[str, Column]:
    """What is kept beside a page, by the system's name; nothing where there is none."""
    file = folder / FILE
    if not file.is_file():
        return {}
    return {name: Column(**row) for name, row in read_json(file).items()}


def write_columns(folder: Path, columns: Mapping[str, Column]) -> None:
    """Keep the columns beside the page in this folder."""
    folder.mkdir(parents=True, exist_ok=True)
    write_json(folder / FILE, {name: asdict(column) for name, column in columns.items()})
