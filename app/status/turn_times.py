"""How long each stage of the last turns took, with medians and 95th percentiles.

Invariant: no Qt here. Times are milliseconds after the end of the person's speech; a stage that did
not happen in a turn is not counted.
"""

import math
import statistics
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

from app.language.words import mark
from engine.api import Event, TurnEnded, TurnMetrics

KEPT = 50  # turns


@dataclass(frozen=True)
class Milestone:
    """A stage with its name for the person; `field` is its time in TurnMetrics."""

    field: str
    name: str


STAGES = (
    Milestone("end_ms", mark("end of speech noticed")),
    Milestone("transcript_ms", mark("words recognised")),
    Milestone("first_token_ms", mark("first token")),
    Milestone("first_word_ms", mark("first word")),
    Milestone("first_audio_ms", mark("first audio")),
    Milestone("heard_ms", mark("first sound heard")),
)


@dataclass(frozen=True)
class TurnTime:
    """The times of one turn, in the order of STAGES; None = did not happen."""

    turn: int
    stages_ms: tuple[float | None, ...]

    @property
    def total_ms(self) -> float:
        """The time of the last stage that happened."""
        return max((ms for ms in self.stages_ms if ms is not None), default=0.0)


@dataclass(frozen=True)
class Summary:
    """One stage over the turns in which it happened; None = it never happened."""

    last_ms: float | None
    median_ms: float | None
    high_ms: float | None  # the 95th percentile


class TurnTimes:
    """The last turns, oldest first."""

    def __init__(self) -> None:
        self.turns: deque[TurnTime] = deque(maxlen=KEPT)

    def on_event(self, event: Event) -> None:
        if isinstance(event, TurnEnded) and event.metrics.heard_ms is not None:
            self.turns.append(TurnTime(event.turn, stages(event.metrics)))

    def summaries(self) -> tuple[Summary, ...]:
        """One for each of STAGES."""
        return tuple(
            _summary([turn.stages_ms[number] for turn in self.turns])
            for number in range(len(STAGES))
        )

    def as_text(self) -> str:
        """A table for a report, with tabs between the columns."""
        head = "\t".join(("stage (ms)", "last", "median", "95 %"))
        rows = [
            "\t".join((stage.name, shown(each.last_ms), shown(each.median_ms), shown(each.high_ms)))
            for stage, each in zip(STAGES, self.summaries(), strict=True)
        ]
        turns = [
            "\t".join((f"turn {turn.turn}", *(shown(ms) for ms in turn.stages_ms)))
            for turn in self.turns
        ]
        names = "\t".join(("turn", *(stage.name for stage in STAGES)))
        return "\n".join((head, *rows, "", names, *turns)) + "\n"


def stages(metrics: TurnMetrics) -> tuple[float | None, ...]:
    """A turn's times in the order of STAGES."""
    return tuple(getattr(metrics, stage.field) for stage in STAGES)


def percentile(values: Sequence[float], percent: float) -> float:
    """The smallest value that at least `percent` % of the values do not exceed."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(percent / 100 * len(ordered)) - 1)]


def shown(ms: float | None) -> str:
    return "–" if ms is None else f"{ms:.0f}"  # noqa: RUF001 - a dash for what there is not


def _summary(column: Sequence[float | None]) -> Summary:
    values = [ms for ms in column if ms is not None]
    if not values:
        return Summary(None, None, None)
    return Summary(column[-1], statistics.median(values), percentile(values, 95))
