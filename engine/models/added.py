"""The user's own models: a list of their locations; the files stay in place.

Invariant: no model is copied, moved or deleted. The list is replaced as one file. An unreadable
list counts as empty, and is renamed before a new one is written.
"""

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from engine.asr.whisper.model import checked_folder
from engine.atomic_write import replace_file
from engine.errors import InvalidInput, ModelError, SettingsError
from engine.llm.local.gguf import checked_file
from engine.messages.models import ModelKind
from engine.translatable import Translatable

FILE = "added-models.json"
MOST = 100
_LARGEST_BYTES = 1_000_000  # MOST entries with the longest paths
_UNREADABLE = (ValueError, TypeError, KeyError, RecursionError)
HINT = Translatable(
    "Choose a GGUF file, or a folder with GGUF files or with a converted Whisper model."
)


@dataclass(frozen=True)
class AddedModel:
    """A model of the user: its absolute path and its kind."""

    path: str
    kind: str


def added(folder: Path) -> tuple[AddedModel, ...]:
    """Return the added models, oldest first; empty if the list cannot be read."""
    try:
        return _read(folder)
    except (OSError, *_UNREADABLE):
        return ()


def _read(folder: Path) -> tuple[AddedModel, ...]:
    """Return the list; empty if there is none yet. Raises OSError, or an error of _UNREADABLE."""
    try:
        with (folder / FILE).open(encoding="utf-8") as file:
            found = json.loads(file.read(_LARGEST_BYTES))
    except FileNotFoundError:
        return ()
    return tuple(AddedModel(str(each["path"]), str(each["kind"])) for each in found)[:MOST]


def add(path: Path, folder: Path) -> tuple[AddedModel, ...]:
    """Add a GGUF file, a Whisper folder, or a folder's GGUF files to the list; return the entries.

    InvalidInput for anything else, SettingsError if the list cannot be saved.
    """
    found = _find_models(path.expanduser().absolute())
    known = [each for each in added(folder) if each not in found]
    if len(known) + len(found) > MOST:
        raise InvalidInput(
            "More than {count} models were added.", hint="Remove some first.", count=MOST
        )
    _save([*known, *found], folder)
    return found


def forget(path: str, folder: Path) -> None:
    """Remove a model from the list; its files stay. SettingsError if the list cannot be saved."""
    _save([each for each in added(folder) if each.path != path], folder)


def _find_models(path: Path) -> tuple[AddedModel, ...]:
    try:
        if path.is_dir():
            files = sorted(each for each in path.glob("*.gguf") if each.is_file())[:MOST]
            if files:
                return tuple(
                    AddedModel(str(checked_file(str(each))), ModelKind.LANGUAGE_MODEL)
                    for each in files
                )
            return (AddedModel(str(checked_folder(str(path))), ModelKind.RECOGNISER),)
        return (AddedModel(str(checked_file(str(path))), ModelKind.LANGUAGE_MODEL),)
    except ModelError as error:
        raise InvalidInput(error.message, hint=HINT) from error
    except OSError as error:
        raise InvalidInput(
            "{path} cannot be read: {error}.", hint=HINT, path=path, error=error.strerror
        ) from error


def _save(models: list[AddedModel], folder: Path) -> None:
    """Write the list to a temporary name, then rename it; only the user can read it."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _set_damaged_aside(folder)
        replace_file(folder / FILE, json.dumps([asdict(each) for each in models], indent=2))
    except OSError as error:
        raise SettingsError(
            "The list of added models cannot be saved in {folder}: {error}.",
            hint="Free some space or allow writing there, and add it again.",
            folder=folder,
            error=error.strerror or error,
        ) from error


def _set_damaged_aside(folder: Path) -> None:
    """Rename a damaged list, so that the next one does not overwrite it. Raises OSError."""
    file = folder / FILE
    try:
        _read(folder)
    except _UNREADABLE:
        number = 1
        while (aside := file.with_name(f"{file.stem}-damaged-{number}{file.suffix}")).exists():
            number += 1
        file.rename(aside)
