"""The page with the table of all systems.

Invariant: every row names the part that measured it, so every cell can be measured again; a figure
that was not measured is marked as such, never left out.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Final

from engine.training.comparison.measure import SIZE, Figures
from engine.training.comparison.systems import BUILT_IN, MOST_VOICES, System
from engine.training.evaluation.figures import UNMEASURED, Goal, Results, goals
from engine.training.evaluation.verdicts import Verdict, errors, interval
from engine.tts.delays import Timing, Trace, factor, timing, words_before_sound

PAGE: Final = "comparison.md"
COMMAND: Final = "python -m engine.training compare"
Columns = Mapping[System, Figures]
# Figures of engine/training/evaluation/figures.py that are shown, and the part that measures each.
_HEARD: Final = {
    "words wrong, Whisper, every voice": "sentences",
    "words wrong, Whisper, all": "sentences",
    "words wrong, bigram": "sentences",
    "replies of 1 to 3 words, Whisper": "replies",
    "replies of 1 to 3 words, bigram": "replies",
    "ends by itself": "sentences",
    "DNSMOS P.808": "sentences",
    "speaking rate, error": "rates",
    "words wrong at 2 SPS, Whisper": "rates",
    "words wrong at 6 SPS, Whisper": "rates",
}
_LEFT_OUT: Final = (
    "speech at 1.5, 3, 5 and 6.5 syllables a second, moves of the slider, minutes of text, an open "
    "recogniser, sounds skipped or repeated, clones, resident memory"
)
_DELAYS_S: Final = (0.0, 0.2, 0.5)  # a word; about 200, 5 and 2 words a second
_TIMES: Final[Mapping[str, tuple[Callable[[Timing], float], str]]] = {
    "first packet": (lambda t: 1000 * t.first_packet_s, "{:.0f} ms"),
    "first audible sound": (lambda t: 1000 * t.first_audible_s, "{:.0f} ms"),
    "dry": (lambda t: t.dry_s, "{:.2f} s"),
    "times dry": (lambda t: t.dry_times, "{:.0f}"),
}


@dataclass(frozen=True)
class Row:
    """A figure: its name, the part that measures it, and its cell for a system."""

    name: str
    part: str
    cell: Callable[[Figures], str]


@dataclass(frozen=True)
class Claim:
    """What a paper says and the row that should show it, of these systems."""

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


def rows() -> list[Row]:
    """All figures, in the order of the table."""
    by_name = {goal.name: goal for goal in goals(Results())}
    return [
        *(Row(name, part, _shown(by_name[name])) for name, part in _HEARD.items()),
        Row("words before the first sound", "delays", _traced(words_before_sound, "{:.0f}")),
        *(
            Row(
                f"{name} at {1000 * delay:.0f} ms a word",
                "delays",
                _timed(value, delay, form),
            )
            for name, (value, form) in _TIMES.items()
            for delay in _DELAYS_S
        ),
        Row("processor time per second of speech", "delays", _traced(factor, "{:.2f}")),
        Row("parameters, millions", "", lambda f: _known(f.parameters, 1e6)),
        Row("megabytes on the disk", "", lambda f: _known(f.disk_megabytes)),
    ]


def table(columns: Columns) -> str:
    """The Markdown table, one column for each system."""
    lines = {
        "figure | part": [system.name for system in columns],
        "---|---": ["---"] * len(columns),
    }
    for row in rows():
        lines[f"{row.name} | {row.part}"] = [
            _cell(row, system, figures) for system, figures in columns.items()
        ]
    lines["control of the rate | "] = [system.rate or "none" for system in columns]
    lines["core hours of training, networks | "] = [
        "" if system.hours is None else f"{system.hours:g}" for system in columns
    ]
    return "".join(f"| {name} | {' | '.join(cells)} |\n" for name, cells in lines.items())


def claims_table(columns: Columns) -> str:
    """A Markdown table, a row for each claim."""
    figures = {system.name: (system, each) for system, each in columns.items()}
    by_name = {row.name: row for row in rows()}
    lines = []
    for claim in CLAIMS:
        cells = [
            f"{name} {_cell(by_name[claim.figure], *figures[name])}"
            for name in claim.systems
            if name in figures
        ]
        lines.append(f"| {claim.text} | {claim.figure} | {'<br>'.join(cells)} |")
    return "\n".join(("| a paper's claim | figure | here |", "| --- | --- | --- |", *lines, ""))


def write_page(folder: Path, columns: Columns, measured: str) -> Path:
    """Write the page; returns it. `measured`: when and on what."""
    claims = "\n".join(
        f"- **{system.name}**: {system.headline}."
        + (f" Must show here too: {system.expected}." if system.expected else "")
        + (f" Ours, not the paper's: {system.ours}." if system.ours else "")
        for system in columns
    )
    voices = "\n".join(filter(None, (_by_voice(s.name, f) for s, f in columns.items())))
    text = f"""# The systems of the papers, side by side

Measured {measured}, by `{COMMAND} --into resources`, in one run. A cell is measured again with
`{COMMAND} --only "SYSTEM/PART" --again`, the column's name and the row's part.
All say the same sentences, drawn from templates that no training draws from, word by word through
an ordinary session, in one thread: {SIZE.sentences} sentences by each of at most {MOST_VOICES} \
voices, {SIZE.replies} replies, {SIZE.rate_sentences} sentences at each rate.
Cells hold the median, then the worst, of the voices; of times and counts, of {SIZE.timed} sentences
by the first voice. SPS are syllables a second. Times count processor seconds of the steps, so the
load does not enter; the loudspeaker of these rows begins with the first frame and stands still
("dry") whenever the next is not there in time. Times of different machines cannot be compared.

{table(columns)}
Not measured in this run: {_LEFT_OUT}. Of the built-in voice they stand in
[its card](starter/CARD.md).

## What the papers say

Do not compare absolute figures: the papers train on 960 to 40,000 hours, ours on some.

{claims}

## What of that shows here

What SpeakStream's and SMLLE's papers claim of their own parts was tried once:
[variants](comparison-variants.md).

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


def _cell(row: Row, system: System, figures: Figures) -> str:
    """The figure, or why this system has none."""
    if row.part == "rates" and not system.rate:
        return "no rate"
    cell = row.cell(figures)
    return system.remark if system.remark and cell == UNMEASURED else cell


def _known(amount: float | None, unit: float = 1.0) -> str:
    return UNMEASURED if amount is None else f"{amount / unit:.1f}"


def _shown(goal: Goal) -> Callable[[Figures], str]:
    return lambda figures: goal.cell(figures.results)


def _timed(value: Callable[[Timing], float], delay_s: float, form: str) -> Callable[[Figures], str]:
    return _traced(lambda trace: value(timing(trace, delay_s)), form)


def _traced(value: Callable[[Trace], float], form: str) -> Callable[[Figures], str]:
    """Median and worst of the sentences."""

    def cell(figures: Figures) -> str:
        values = [value(trace) for trace in figures.traces]
        if not values:
            return UNMEASURED
        return f"{form.format(median(values))} / {form.format(max(values))}"

    return cell


def _by_voice(name: str, figures: Figures) -> str:
    """A line; empty where nothing was heard."""
    voices: dict[str, list[Verdict]] = {}
    for verdict in figures.results.sentences:
        voices.setdefault(verdict.talker, []).append(verdict)
    shares = [f"{voice} {_share(verdicts)}" for voice, verdicts in voices.items()]
    return f"- **{name}**: {', '.join(shares)}" if shares else ""


def _share(verdicts: Sequence[Verdict]) -> str:
    wrong = errors(verdicts)
    return UNMEASURED if wrong is None else f"{wrong:.1%} ± {100 * interval(verdicts):.1f}"
