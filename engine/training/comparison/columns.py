"""The columns of the page. They are kept beside it, so that it grows over several machines: a pack
is lost with the machine that made it, what was heard of it is not.

Invariant: a cell changes only where it is measured anew, or when another pack has taken the place
of the one that was measured.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Final

from engine.training.run import read_json, write_json

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
