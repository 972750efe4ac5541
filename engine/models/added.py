"""Models of the person's own: where they lie is remembered, and they stay there.

Invariant: no model is copied, moved or deleted. The list is replaced as a whole. A list that cannot
be read counts as empty, and is moved aside before another is written.
"""

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from engine.asr.whisper.model import checked_folder
from engine.atomic_write import replace_file
from engine.errors import InvalidInput, ModelError, SettingsError
from engine.llm.local.gguf import checked_file
from engine.translatable import Translatable

FILE = "added-models.json"
MOST = 100
_LARGEST_BYTES = 1_000_000  # MOST paths of the longest kind
_UNREADABLE = (ValueError, TypeError, KeyError, RecursionError)
HINT = Translatable(
    "Choose a GGUF file, or a folder with GGUF files or with a converted Whisper model."
)


@dataclass(frozen=True)
class Added:
    """A model of the person's own: its absolute path and its kind."""

    path: str
    kind: str


def added(folder: Path) -> tuple[Added, ...]:
    """The added models, oldest first; empty if the list cannot be read."""
    try:
        return _read(folder)
    except (OSError, *_UNREADABLE):
        return ()


def _read(folder: Path) -> tuple[Added, ...]:
    """The list; empty where there is none yet. Raises OSError, or an error of _UNREADABLE."""
    try:
        with (folder / FILE).open(encoding="utf-8") as file:
            found = json.loads(file.read(_LARGEST_BYTES))
    except FileNotFoundError:
        return ()
    return tuple(Added(str(each["path"]), str(each["kind"])) for each in found)[:MOST]


def add(path: Path, folder: Path) -> tuple[Added, ...]:
    """Remember what is there: a GGUF file, a Whisper folder, or GGUF files in a folder; returns it.

    InvalidInput when it is none of these, SettingsError when the list cannot be kept.
    """
    found = _looked_at(path.expanduser().absolute())
    known = [each for each in added(folder) if each not in found]
    if len(known) + len(found) > MOST:
        raise InvalidInput(
            "More than {count} models were added.", hint="Remove some first.", count=MOST
        )
    _keep([*known, *found], folder)
    return found


def forget(path: str, folder: Path) -> None:
    """Leave it out of the list; its files stay. SettingsError when the list cannot be kept."""
    _keep([each for each in added(folder) if each.path != path], folder)


def _looked_at(path: Path) -> tuple[Added, ...]:
    try:
        if path.is_dir():
            files = sorted(each for each in path.glob("*.gguf") if each.is_file())[:MOST]
            if files:
                return tuple(
                    Added(str(checked_file(str(each))), "language model") for each in files
                )
            return (Added(str(checked_folder(str(path))), "recogniser"),)
        return (Added(str(checked_file(str(path))), "language model"),)
    except ModelError as error:
        raise InvalidInput(error.message, hint=HINT) from error
    except OSError as error:
        raise InvalidInput(
            "{path} cannot be read: {error}.", hint=HINT, path=path, error=error.strerror
        ) from error


def _keep(models: list[Added], folder: Path) -> None:
    """Under a temporary name, then renamed; for the person alone."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _set_damaged_aside(folder)
        replace_file(folder / FILE, json.dumps([asdict(each) for each in models], indent=2))
    except OSError as error:
        raise SettingsError(
            "The list of added models cannot be saved in {folder}: {error}.",
            hint="Make room or allow writing there, and add it again.",
            folder=folder,
            error=error.strerror or error,
        ) from error


def _set_damaged_aside(folder: Path) -> None:
    """Rename a list that is not one, so that the next does not overwrite it. Raises OSError."""
    file = folder / FILE
    try:
        _read(folder)
    except _UNREADABLE:
        number = 1
        while (aside := file.with_name(f"{file.stem}-damaged-{number}{file.suffix}")).exists():
            number += 1
        file.rename(aside)
