"""What is told of one text spoken by every system there is, one after the other.

Invariant: a row is whole each time it is told, and takes the place of the one of the same name.
"""

from dataclasses import asdict, dataclass, fields
from enum import StrEnum
from pathlib import Path
from typing import Any, Self

from engine import translatable


class ComparisonState(StrEnum):
    """How far a system is."""

    WAITING = "waiting"
    LOADING = "loading"
    SPEAKING = "speaking"
    DONE = "done"
    ABSENT = "absent"  # it cannot be heard here; a note says why


@dataclass(frozen=True)
class Compared:
    """One system. Times count the processor's, not the clock's, so other programs do not matter.

    `first_sound_ms`: from the first word to the first audible sound, at the chosen delay between
    words; `words_before`: needed before the first sound; `share`: processor time over length of
    the sound; `rate` in syllables a second; `dry_ms`: how long a loudspeaker had nothing to play
    before the last word was out. None = not known yet. `note` is a sentence on why it is absent,
    or on what went wrong.
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
        """The row as JSON can hold it."""
        return {**asdict(self), "note": translatable.to_json(self.note)}

    @classmethod
    def of(cls, document: Any) -> Self:
        """What document() gave; ValueError for what it did not."""
        if not isinstance(document, dict) or set(document) != {each.name for each in fields(cls)}:
            raise ValueError("it is no row of a comparison")
        note = translatable.from_json(document["note"])
        state = ComparisonState(document["state"])
        return cls(**{**document, "state": state, "note": note})


@dataclass(frozen=True)
class Recital:
    """How a text is compared. `word_delay_ms`: between its words; `aloud`: through the loudspeaker,
    in real time; `folder`: where a WAV of each goes, `table`: the CSV to write, None = neither;
    `only`: names of systems, () = all.
    """

    word_delay_ms: float = 200.0
    aloud: bool = False
    folder: Path | None = None
    table: Path | None = None
    only: tuple[str, ...] = ()
