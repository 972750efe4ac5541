"""Models on this machine's disk: those that can be fetched, and the list of the user's own, which
stay where they are.

Invariant: reaches the network only while fetching. No added model is copied, moved or deleted. The
list is replaced as one file; a damaged one counts as empty, and is never overwritten.
"""

import json
import os
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

from engine import settings_file
from engine.asr.whisper.model import checked_folder
from engine.assets.catalogue import Asset, find
from engine.assets.catalogue import with_needs as with_needs
from engine.assets.store import Cancel, Show, Store
from engine.atomic_write import replace_file, unused_name
from engine.errors import InvalidInput, ModelError, SettingsError
from engine.llm.local.gguf import checked_file
from engine.messages.models import ModelKind
from engine.translatable import Translatable

HUB = "RUBATO_HUB"  # address of a server that speaks the hub's protocol
ShowAll = Callable[[int, int], None]  # bytes done and in total, of all files


def default_store() -> Store:
    """Return the store in the user's data folder; RUBATO_HUB names another hub, e.g. a mirror."""
    return Store(settings_file.data_folder() / "models", endpoint=os.environ.get(HUB) or None)


def fetch(name: str, show: Show, cancelled: Cancel = lambda: False) -> tuple[Path, ...]:
    """Fetch a model and its needs; return their folders. AssetError, Cancelled."""
    store = default_store()
    return tuple(store.fetch(each, show, cancelled) for each in with_needs(name))


def fetch_all(name: str, show: ShowAll, cancelled: Cancel) -> None:
    """As fetch(), with the progress of all files together."""
    store, wanted = default_store(), with_needs(name)
    total = sum(file.likely_bytes for asset in wanted for file in asset.files)
    done = sum(store.bytes_here(asset) for asset in wanted)
    show(done, total)
    for asset in wanted:
        others = sum(store.bytes_here(each) for each in wanted if each is not asset)
        store.fetch(asset, _counter(store, asset, others, total, show), cancelled)


def verify(name: str, show: Show, cancelled: Cancel = lambda: False) -> tuple[str, ...]:
    """Return one sentence per file that has changed since it was fetched."""
    return default_store().verify(find(name), show, cancelled)


def remove(name: str) -> int:
    """Delete a model; return the bytes freed. AssetError while it is being fetched."""
    return default_store().remove(find(name))


def usable_path(asset: Asset, store: Store) -> Path:
    """Return the path to load: the GGUF file of a language model, otherwise the folder."""
    folder = store.path(asset)
    files = [file.path for file in asset.files if file.path.endswith(".gguf")]
    return folder / files[0] if files else folder


def size_on_disk(path: Path) -> int:
    """Return the size of a file, or of all files below a folder; 0 if missing."""
    files = path.rglob("*") if path.is_dir() else (path,)
    return sum(file.stat().st_size for file in files if file.is_file())


def _counter(store: Store, asset: Asset, others: int, total: int, show: ShowAll) -> Show:
    """Add up the progress of one asset's files; packages count as one file."""
    missing = store.missing(asset)
    done = {file.path: file.likely_bytes for file in asset.files if file not in missing}

    def step(file: str, bytes_done: int, _: int) -> None:
        done[file] = bytes_done
        show(min(total, others + sum(done.values())), total)

    return step


FILE = "added-models.json"
MOST = 100
_LARGEST_BYTES = 1_000_000  # MOST entries with the longest paths
_DAMAGE = (ValueError, TypeError, KeyError, RecursionError)
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
    except (OSError, *_DAMAGE):
        return ()


def _read(folder: Path) -> tuple[AddedModel, ...]:
    """Return the list; empty if there is none. Raises OSError, or an error of _DAMAGE."""
    try:
        with (folder / FILE).open(encoding="utf-8") as file:
            found = json.loads(file.read(_LARGEST_BYTES))
    except FileNotFoundError:
        return ()
    return tuple(AddedModel(str(each["path"]), str(each["kind"])) for each in found)[:MOST]


def _read_to_change(folder: Path) -> tuple[AddedModel, ...]:
    """As _read(), but rename a damaged list, which the next one would overwrite, and raise
    SettingsError.
    """
    try:
        return _read(folder)
    except _DAMAGE as error:
        kept = (folder / FILE).rename(unused_name(folder / FILE))
        raise SettingsError(
            "The list of added models is damaged.",
            hint="Add them again. The file is kept as {name}.",
            name=kept.name,
        ) from error


def add(path: Path, folder: Path) -> tuple[AddedModel, ...]:
    """Add a GGUF file, a Whisper folder, or a folder's GGUF files; return the entries. InvalidInput
    for anything else, SettingsError if the list cannot be saved or was damaged.
    """
    found = _find_models(path.expanduser().absolute())
    _change(folder, {each.path for each in found}, found)
    return found


def forget(path: str, folder: Path) -> None:
    """Remove a model from the list; its files stay. SettingsError as for add()."""
    _change(folder, {path}, ())


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


def _change(folder: Path, gone: set[str], new: tuple[AddedModel, ...]) -> None:
    """Write the list, which only the user can read, without some paths and with new models."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        models = (*(each for each in _read_to_change(folder) if each.path not in gone), *new)
        if len(models) > MOST:
            raise InvalidInput(
                "More than {count} models were added.", hint="Remove some first.", count=MOST
            )
        replace_file(folder / FILE, json.dumps([asdict(each) for each in models], indent=2))
    except OSError as error:
        raise SettingsError(
            "The list of added models cannot be saved in {folder}: {error}.",
            hint="Free some space or allow writing there, and add it again.",
            folder=folder,
            error=error.strerror or error,
        ) from error
