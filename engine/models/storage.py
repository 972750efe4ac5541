"""The models that can be fetched, on this machine's disk: plain values in, plain values out.

Invariant: reaches the network only while fetching.
"""

import os
from collections.abc import Callable
from pathlib import Path

from engine import settings_file
from engine.assets.catalogue import Asset, find
from engine.assets.catalogue import with_needs as with_needs
from engine.assets.store import Progress, Store

HUB = "RUBATO_HUB"  # address of a server that speaks the hub's protocol
Show = Callable[[str, int, int], None]  # file, bytes done, bytes in total
ShowAll = Callable[[int, int], None]  # bytes done and in total, of all files
Cancelled = Callable[[], bool]


def default_store() -> Store:
    """Return the store in the user's data folder; RUBATO_HUB names another hub, e.g. a mirror."""
    return Store(settings_file.data_folder() / "models", endpoint=os.environ.get(HUB) or None)


def fetch(name: str, show: Show, cancelled: Cancelled = lambda: False) -> tuple[Path, ...]:
    """Fetch a model and its needs; return their folders. AssetError, Cancelled."""
    store = default_store()
    return tuple(store.fetch(each, _forwarder(show), cancelled) for each in with_needs(name))


def fetch_all(name: str, show: ShowAll, cancelled: Cancelled) -> None:
    """As fetch(), with the progress of all files together."""
    store, wanted = default_store(), with_needs(name)
    total = sum(file.likely_bytes for asset in wanted for file in asset.files)
    done = sum(store.bytes_here(asset) for asset in wanted)
    show(done, total)
    for asset in wanted:
        others = sum(store.bytes_here(each) for each in wanted if each is not asset)
        store.fetch(asset, _counter(store, asset, others, total, show), cancelled)


def verify(name: str, show: Show, cancelled: Cancelled = lambda: False) -> tuple[str, ...]:
    """Return one sentence per file that has changed since it was fetched."""
    verdicts = default_store().verify(find(name), _forwarder(show), cancelled)
    return tuple(verdict.fault for verdict in verdicts if verdict.fault)


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


def _counter(
    store: Store, asset: Asset, others: int, total: int, show: ShowAll
) -> Callable[[Progress], None]:
    """Add up the progress of one asset's files; packages count as one file."""
    whole = {file.path: file.likely_bytes for file in asset.files if store.is_here(asset, file)}

    def step(progress: Progress) -> None:
        whole[progress.file] = progress.done_bytes
        show(min(total, others + sum(whole.values())), total)

    return step


def _forwarder(show: Show) -> Callable[[Progress], None]:
    return lambda progress: show(progress.file, progress.done_bytes, progress.total_bytes)
