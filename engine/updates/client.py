"""The Update Framework's client: what is offered, and its files, each signed for.

Invariant: nothing that was served is used before tuf has verified it; what was verified once is not
fetched again, so that a download that broke off goes on.
"""

import errno
import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Self

import httpx
from tuf.api.exceptions import (
    DownloadError,
    DownloadHTTPError,
    ExpiredMetadataError,
    RepositoryError,
    SlowRetrievalError,
)
from tuf.ngclient import FetcherInterface, TargetFile, Updater

from engine.errors import UpdateError
from engine.updates.source import Source

RELEASE = "release.json"
_SILENCE_S = 20  # of a server, before it is given up
_LARGEST_RELEASE = 256 * 1024  # bytes of the description
_FORGERY = "Nothing was changed. Look again later; if it stays so, tell those who make Rubato."


@dataclass(frozen=True)
class Offer:
    """A version that is served. `folder` is where its files are among the targets."""

    version: str
    changes: str
    folder: str
    files: tuple[str, ...]


class _Fetcher(FetcherInterface):
    """tuf's own leaves a connection open where it stops reading; this one hangs up."""

    def __init__(self) -> None:
        headers = {"User-Agent": "rubato"}  # no version, no system: nobody is counted
        self._client = httpx.Client(timeout=_SILENCE_S, follow_redirects=True, headers=headers)

    def _fetch(self, url: str) -> Iterator[bytes]:
        with self._client.stream("GET", url) as answer:
            if answer.status_code >= httpx.codes.BAD_REQUEST:
                raise DownloadHTTPError(f"status {answer.status_code}", answer.status_code)
            yield from answer.iter_bytes()

    def close(self) -> None:
        self._client.close()


class Client:
    """One look at a source. `folder` keeps what is trusted from one look to the next."""

    def __init__(self, source: Source, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._folder = folder
        self._fetcher = _Fetcher()
        with explained():
            self._updater = Updater(
                str(folder / "metadata"),
                f"{source.address}/metadata/",
                target_base_url=f"{source.address}/targets/",
                fetcher=self._fetcher,
                bootstrap=source.root,
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._fetcher.close()

    def offer(self, system: str) -> Offer | None:
        """What is served for a system; None = nothing. UpdateError when it cannot be trusted."""
        with explained():
            self._updater.refresh()
            target = self._updater.get_targetinfo(f"{system}/{RELEASE}")
            if target is None:
                return None
            if target.length > _LARGEST_RELEASE:
                raise _unusable()
            path = self._folder / RELEASE
            self._updater.download_target(target, str(path))
            return _offer(path.read_bytes())

    def fetch(self, offer: Offer, into: Path, kept: Path, show: Callable[[float], None]) -> None:
        """Have all files of an offer in a folder; those that `kept` has already are copied."""
        with explained():
            targets = [(name, self._target(f"{offer.folder}/{name}")) for name in offer.files]
            whole, done = sum(target.length for _, target in targets), 0
            for name, target in targets:
                self._have(target, into / name, kept / name)
                done += target.length
                show(done / max(1, whole))

    def _target(self, path: str) -> TargetFile:
        target = self._updater.get_targetinfo(path)
        if target is None:
            raise _unusable()
        return target

    def _have(self, target: TargetFile, place: Path, kept: Path) -> None:
        place.parent.mkdir(parents=True, exist_ok=True)
        if self._updater.find_cached_target(target, str(place)) is None:
            if self._updater.find_cached_target(target, str(kept)) is not None:
                shutil.copyfile(kept, place)
            else:
                self._updater.download_target(target, str(place))
        if target.custom and target.custom.get("executable"):
            place.chmod(0o755)


def _offer(document: bytes) -> Offer:
    """It is signed, yet by people: what it names stays inside its folder."""
    try:
        read = json.loads(document)
        offer = Offer(read["version"], read["changes"], read["folder"], tuple(read["files"]))
    except (ValueError, KeyError, TypeError) as error:
        raise _unusable() from error
    words = (offer.version, offer.changes, offer.folder, *offer.files)
    if not all(isinstance(word, str) for word in words):
        raise _unusable()
    if any(not _is_inside(word) for word in (offer.folder, *offer.files)):
        raise _unusable()
    return offer


def _is_inside(path: str) -> bool:
    parts = PurePosixPath(path).parts
    plain = not any(letter in path for letter in "\\:\0")
    return plain and bool(parts) and ".." not in parts and parts[0] != "/"


def _unusable() -> UpdateError:
    return UpdateError("The update that is offered cannot be used.", hint=_FORGERY)


@contextmanager
def explained() -> Iterator[None]:
    """Errors of the network, of signatures and of the disk, as sentences for the person."""
    try:
        yield
    except ExpiredMetadataError as error:
        raise UpdateError(
            "What the update server offers is older than it may be.", hint=_FORGERY
        ) from error
    except RepositoryError as error:
        raise UpdateError(
            "What the update server offers is not signed as it should be, or not what was signed.",
            hint=_FORGERY,
        ) from error
    except (DownloadError, SlowRetrievalError, httpx.HTTPError, httpx.InvalidURL) as error:
        raise UpdateError(
            "The update server could not be reached, or stopped in the middle.",
            hint="Nothing was changed. Check the network, and look again.",
        ) from error
    except OSError as error:
        raise UpdateError(_of_disk(error)) from error


def _of_disk(error: OSError) -> str:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return "The disk is full. Nothing was changed: make room, and try again."
    return f"Nothing was changed: {error.strerror or type(error).__name__}."
