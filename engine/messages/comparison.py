"""Rows of a comparison: one text spoken by every system, one after the other.

Invariant: a row is complete each time, and replaces the row of the same name.
"""

from dataclasses import asdict, dataclass, fields
from enum import StrEnum
from pathlib import Path
from typing import Any, Self

from engine import translatable


class ComparisonState(StrEnum):
    """State of a system in the comparison."""

    WAITING = "waiting"
    LOADING = "loading"
    SPEAKING = "speaking"
    DONE = "done"
    ABSENT = "absent"  # not available here; a note says why


@dataclass(frozen=True)
class Compared:
    """One system. Times are processor time, so other programs do not matter.

    `first_sound_ms`: from the first word to the first audible sound, at the chosen delay between
    words; `words_before`: words needed before the first sound; `share`: processor time over length
    of the sound; `rate` in syllables a second; `dry_ms`: how long a loudspeaker had no samples
    before the last word was spoken. None = not known yet. `note` says why the system is absent, or
    what went wrong.
    """

    name: str
    title: str
    state: ComparisonState = ComparisonState.WAITING
    voice: str = ""
    first_sound_ms: float | None = None
    words_before: int | None = None
    share: float | None = None
    rate: float | None = None
    seconds: float | None = None
    dry_ms: float | None = None
    note: str = ""

    def document(self) -> dict[str, object]:
        """Return the row as a JSON object."""
        return {**asdict(self), "note": translatable.to_json(self.note)}

    @classmethod
    def of(cls, document: Any) -> Self:
        """Return the row of a document(); ValueError for any other value."""
        if not isinstance(document, dict) or set(document) != {each.name for each in fields(cls)}:
            raise ValueError("it is not a row of a comparison")
        note = translatable.from_json(document["note"])
        state = ComparisonState(document["state"])
        return cls(**{**document, "state": state, "note": note})


@dataclass(frozen=True)
class Recital:
    """Options of a comparison. `word_delay_ms`: between words; `aloud`: through the loudspeaker, in
    real time; `folder`: for a WAV of each system, `table`: the CSV file, None = neither; `only`:
    names of systems, () = all.
    """

    word_delay_ms: float = 200.0
    aloud: bool = False
    folder: Path | None = None
    table: Path | None = None
    only: tuple[str, ...] = ()
