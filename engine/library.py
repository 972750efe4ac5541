"""What a host may ask of the models on disk: plain values in, plain values out.

Invariant: reaches the network only in fetch().
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from engine import settings_file
from engine.assets.catalogue import Asset, catalogue, find
from engine.assets.store import Progress, Store

Show = Callable[[str, int, int], None]  # file, bytes done, bytes in total


@dataclass(frozen=True)
class ModelEntry:
    """One line of the list. `state` is 'missing', 'partial' or 'complete'."""

    name: str
    title: str
    kind: str
    megabytes: int
    state: str
    licence: str
    attribution: str
    folder: str


def models() -> tuple[ModelEntry, ...]:
    """Everything that can be fetched."""
    store = default_store()
    return tuple(_entry(asset, store) for asset in catalogue().values())


def fetch_model(
    name: str, show: Show, cancelled: Callable[[], bool] = lambda: False
) -> tuple[Path, ...]:
    """Fetch a model and what it needs; returns their folders. AssetError, Cancelled."""
    asset, store = find(name), default_store()
    wanted = (*(find(need) for need in asset.needs), asset)
    return tuple(store.fetch(each, _passing(show), cancelled) for each in wanted)


def verify_model(
    name: str, show: Show, cancelled: Callable[[], bool] = lambda: False
) -> tuple[str, ...]:
    """One sentence per file that is not as it was fetched."""
    verdicts = default_store().verify(find(name), _passing(show), cancelled)
    return tuple(f"{verdict.file} {verdict.fault}." for verdict in verdicts if verdict.fault)


def remove_model(name: str) -> int:
    """Delete a model; returns the bytes freed."""
    return default_store().remove(find(name))


def default_store() -> Store:
    """The store in the person's data folder."""
    return Store(settings_file.data_folder() / "models")


def _entry(asset: Asset, store: Store) -> ModelEntry:
    return ModelEntry(
        asset.name,
        asset.title,
        asset.kind,
        asset.megabytes,
        store.state(asset).value,
        asset.licence,
        asset.attribution,
        str(store.path(asset)),
    )


def _passing(show: Show) -> Callable[[Progress], None]:
    return lambda progress: show(progress.file, progress.done_bytes, progress.total_bytes)
