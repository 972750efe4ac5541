"""The folder of fetched models: fetch with resume, verify, remove.

Invariant: a file under its final name is complete and has the hash that is pinned beside it; what
is still being fetched lies under another name. Once fetched, no network is needed again.
"""

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from engine.assets.catalogue import Asset, AssetFile, HubSource
from engine.assets.transfer import Fetched, FetchRequest, fetch_from_hub, fetch_from_release
from engine.errors import AssetError, Cancelled

PINS = "pins.json"
SPARE_BYTES = 200_000_000  # left free on the disk, so that fetching a model cannot fill it
CHUNK_BYTES = 1 << 20


class State(Enum):
    """How much of an asset is there."""

    MISSING = "missing"
    PARTIAL = "partial"
    COMPLETE = "complete"


@dataclass(frozen=True)
class Progress:
    """Where a download stands; `total_bytes` is the file's true size."""

    file: str
    done_bytes: int
    total_bytes: int


@dataclass(frozen=True)
class Verdict:
    """The result of hashing one file; `fault` is empty when it is as it was when fetched."""

    file: str
    fault: str


Show = Callable[[Progress], None]


class Store:
    """Models below `folder`. `endpoint` None: the hub the library knows; tests give their own."""

    def __init__(
        self,
        folder: Path,
        *,
        endpoint: str | None = None,
        free_bytes: Callable[[Path], int] = lambda folder: shutil.disk_usage(folder).free,
    ) -> None:
        self._folder = folder
        self._endpoint = endpoint
        self._free_bytes = free_bytes

    def path(self, asset: Asset) -> Path:
        """The asset's folder; it exists only when something of it was fetched."""
        return self._folder / asset.name

    def state(self, asset: Asset) -> State:
        """Judged by names and sizes alone, so it is quick; verify() looks inside."""
        pins = self._pins(asset)
        there = [file for file in asset.files if self._is_whole(asset, file, pins)]
        if len(there) == len(asset.files):
            return State.COMPLETE
        return State.PARTIAL if there or self.path(asset).exists() else State.MISSING

    def fetch(self, asset: Asset, show: Show, cancelled: Callable[[], bool]) -> Path:
        """Fetch what is missing and return the asset's folder; goes on where it was cut off.

        Raises AssetError (no network, refused, wrong hash, disk full) and Cancelled; what was
        fetched so far stays and is used by the next call.
        """
        folder = self.path(asset)
        try:
            folder.mkdir(parents=True, exist_ok=True)
            for file in asset.files:
                if not self._is_whole(asset, file, self._pins(asset)):
                    self._fetch_file(asset, file, show, cancelled)
        except OSError as error:
            raise AssetError(
                f"{asset.title} could not be saved in {folder}: {error.strerror or error}.",
                hint="Free some space there and fetch it again; it goes on where it stopped.",
            ) from error
        return folder

    def verify(
        self, asset: Asset, show: Show, cancelled: Callable[[], bool]
    ) -> tuple[Verdict, ...]:
        """Hash every file and compare with the pins."""
        pins = self._pins(asset)
        return tuple(self._verdict(asset, file, pins, show, cancelled) for file in asset.files)

    def remove(self, asset: Asset) -> int:
        """Delete the asset; returns the bytes freed."""
        folder = self.path(asset)
        size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
        if folder.exists():
            shutil.rmtree(folder)
        return size

    # ---------------------------------------------------------------------- inside

    def _fetch_file(
        self, asset: Asset, file: AssetFile, show: Show, cancelled: Callable[[], bool]
    ) -> None:
        def step(done: int, total: int) -> None:
            if cancelled():
                raise Cancelled("The download was cancelled.", hint="It can be resumed.")
            show(Progress(file.path, done, total))

        request = FetchRequest(self.path(asset), file.path, self._check_space, step, self._endpoint)
        if isinstance(asset.source, HubSource):
            fetched = fetch_from_hub(asset.source, request)
        else:
            fetched = fetch_from_release(asset.source, request)
        self._pin(asset, file, fetched)

    def _check_space(self, needed_bytes: int) -> None:
        free = self._free_bytes(self._folder)
        if needed_bytes + SPARE_BYTES > free:
            raise AssetError(
                f"There is not enough space in {self._folder}: {needed_bytes / 1e9:.2f} GB are "
                f"needed and {free / 1e9:.2f} GB are free.",
                hint="Free some space, or set RUBATO_DATA to a folder on another disk.",
            )

    def _is_whole(self, asset: Asset, file: AssetFile, pins: dict[str, Fetched]) -> bool:
        path = self.path(asset) / file.path
        pin = pins.get(file.path)
        return pin is not None and path.is_file() and path.stat().st_size == pin.size

    def _verdict(
        self,
        asset: Asset,
        file: AssetFile,
        pins: dict[str, Fetched],
        show: Show,
        cancelled: Callable[[], bool],
    ) -> Verdict:
        path, pin = self.path(asset) / file.path, pins.get(file.path)
        if pin is None or not path.is_file():
            return Verdict(file.path, "is missing")
        if path.stat().st_size != pin.size:
            return Verdict(file.path, f"has {path.stat().st_size} bytes instead of {pin.size}")

        def step(done: int) -> None:
            if cancelled():
                raise Cancelled("Verifying was cancelled.")
            show(Progress(file.path, done, pin.size))

        same = sha256_of(path, step) == pin.sha256
        return Verdict(file.path, "" if same else "has changed since it was fetched")

    def _pins(self, asset: Asset) -> dict[str, Fetched]:
        try:
            pins = json.loads((self.path(asset) / PINS).read_text(encoding="utf-8"))
            return {name: Fetched(**pin) for name, pin in pins.items()}
        except (FileNotFoundError, ValueError, TypeError, AttributeError):
            return {}  # nothing pinned, or not by us: it will be fetched again

    def _pin(self, asset: Asset, file: AssetFile, fetched: Fetched) -> None:
        pins = {**self._pins(asset), file.path: fetched}
        text = json.dumps({name: vars(pin) for name, pin in pins.items()}, indent=2)
        folder = self.path(asset)
        handle, temporary = tempfile.mkstemp(dir=folder, prefix=PINS)
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            stream.write(text)
        Path(temporary).replace(folder / PINS)


def sha256_of(path: Path, step: Callable[[int], None]) -> str:
    """Hash a file of any size; `step` is told the bytes done."""
    digest, done = hashlib.sha256(), 0
    with path.open("rb") as stream:
        while chunk := stream.read(CHUNK_BYTES):
            digest.update(chunk)
            done += len(chunk)
            step(done)
    return digest.hexdigest()
