"""Notes on voices: default pace, the day of the last use, and whether a voice is to learn. They are
stored by name and not in a voice's file, because a synthesiser's own voices have them, too.

Invariant: the file is complete or unchanged (written under a temporary name, then renamed) and
private; a damaged file is moved aside, never overwritten.
"""

import json
import logging
import re
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Final

from engine.atomic_write import replace_file
from engine.settings import FAST_LIMIT, SLOWEST
from engine.tts.voices import disk_errors, folded
from engine.typed_values import read_json

log = logging.getLogger(__name__)

FILE: Final = "notes.json"
LONGEST_WORDS: Final = 1_000  # characters
_LARGEST_BYTES: Final = 1_000_000
_DAY: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


@dataclass(frozen=True)
class Note:
    """The note on a voice. `pace` in SPS, None = the slider stays. `used`: an ISO date, empty =
    never. `words`: the text of the recording from which the voice is to learn, empty = not known
    yet; None = it does not learn.
    """

    pace: float | None = None
    used: str = ""
    words: str | None = None


def note_of(notes: dict[str, Note], name: str) -> Note:
    """Return the note on a voice; its name can have any case."""
    return notes.get(folded(name), Note())


def read(within: Path) -> dict[str, Note]:
    """Read the notes by folded name. A damaged file is moved aside and gives none."""
    path = within / FILE
    try:
        entries = read_json(path, _LARGEST_BYTES)["voices"]
        return {str(name): _note(entry) for name, entry in entries.items()}
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        log.warning("notes on voices are set aside path=%s reason=%s", path, error)
        with suppress(OSError):
            path.replace(path.with_suffix(".damaged.json"))
        return {}


def write(within: Path, notes: dict[str, Note]) -> None:
    """Write the notes. ModelError when the disk refuses."""
    entries = {name: asdict(note) for name, note in sorted(notes.items()) if note != Note()}
    content = json.dumps({"voices": entries}, indent=1)
    with disk_errors("noted", within / FILE):
        within.mkdir(parents=True, exist_ok=True)
        replace_file(within / FILE, content)


def change(within: Path, name: str, **values: Any) -> None:
    """Change fields of the note on one voice. ModelError when the disk refuses."""
    notes = read(within)
    before = note_of(notes, name)
    after = replace(before, **values)
    if after != before:
        write(within, {**notes, folded(name): after})


def _note(entry: Any) -> Note:
    """Read an entry, without invalid values."""
    pace, date = entry.get("pace"), entry.get("used")
    sane = isinstance(pace, int | float) and SLOWEST <= pace <= FAST_LIMIT
    day = date if isinstance(date, str) and _DAY.fullmatch(date) else ""
    words = entry.get("words")
    said = words[:LONGEST_WORDS] if isinstance(words, str) else None
    return Note(float(pace) if sane else None, day, said)
