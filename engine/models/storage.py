"""The models that can be fetched, on this machine's disk: plain values in, plain values out.

Invariant: reaches the network only while fetching.
"""

import os
from collections.abc import Callable
from pathlib import Path

from engine import settings_file
from engine.assets.catalogue import Asset, find
from engine.assets.catalogue import with_needs as with_needs
from engine.assets.store import Cancel, Show, Store

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
