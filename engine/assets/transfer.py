"""Fetch a file of a hub or of a release to its final name.

Invariant: a file gets its final name only after its content matched the pins, or the hub's
metadata. A partial file belongs to one version, which its name contains.
"""

import glob
import hashlib
import os
import re
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import quote

from engine.assets.catalogue import AssetFile, HubSource, ReleaseSource
from engine.assets.download import (
    ENVIRONMENT_FAULTS,
    OFFLINE,
    Download,
    SourceError,
    environment_fault,
    receive,
)

METADATA_S = 10.0  # for the server's first answer; a slow line needs a few seconds


@dataclass(frozen=True)
class Fetched:
    """Pin of a fetched file: its content and its source."""

    sha256: str
    size: int
    revision: str


@dataclass(frozen=True)
class FetchRequest:
    """A file to fetch into `folder`. `check_space` gets the bytes still missing and may raise;
    `step` gets bytes done and in total and may raise to cancel; `pause` sleeps.
    """

    folder: Path
    file: AssetFile
    check_space: Callable[[int], None]
    step: Callable[[int, int], None]
    endpoint: str | None
    pause: Callable[[float], None] = time.sleep


@dataclass(frozen=True)
class _Origin:
    """Address and metadata of a file. `digest` is a sha256, git's sha1 for small files of a hub, or
    empty if unknown; `size` is None if unknown.
    """

    url: str
    revision: str
    size: int | None = None
    digest: str = ""


def fetch_from_hub(source: HubSource, request: FetchRequest) -> Fetched:
    """Fetch a file of a hub repository at the current commit of its revision."""
    from huggingface_hub import get_hf_file_metadata, hf_hub_url

    def address(revision: str) -> str:
        path = request.file.path
        return hf_hub_url(source.repository, path, revision=revision, endpoint=request.endpoint)

    with _translate_hub_errors(request.file.path, source.repository):
        record = get_hf_file_metadata(address(source.revision), token=False, timeout=METADATA_S)
    digest, commit = record.etag or "", record.commit_hash or source.revision
    if not re.fullmatch(r"[0-9a-f]{64}|[0-9a-f]{40}", digest):
        raise SourceError(
            "The server gives no hash for {file}.",
            hint="Use the official hub.",
            file=request.file.path,
        )
    return _fetch(_Origin(address(commit), commit, record.size, digest), request)


def fetch_from_release(source: ReleaseSource, request: FetchRequest) -> Fetched:
    """Fetch a file of a GitHub release. Without a pinned hash the first download is pinned and
    later ones must match it; then it is never resumed.
    """
    endpoint = request.endpoint or "https://github.com"
    where = f"{source.repository}/releases/download/{quote(source.tag)}"
    return _fetch(_Origin(f"{endpoint}/{where}/{quote(request.file.path)}", source.tag), request)


def _fetch(said: _Origin, request: FetchRequest) -> Fetched:
    """Fetch to the partial file, then rename it. A wrong resumed file is fetched again."""
    origin = _pinned(said, request.file)
    partial = _partial(origin, request)
    resumed = partial.exists()
    sha256 = _fill_partial(origin, request, partial)
    if resumed and not sha256:
        sha256 = _fill_partial(origin, request, partial)
    if not sha256:
        raise SourceError(
            "{file} was damaged on the way: its hash is wrong.",
            hint="Fetch it again. If it happens twice, do not trust the server's copy.",
            file=request.file.path,
        )
    fetched = Fetched(sha256, partial.stat().st_size, origin.revision)
    partial.replace(request.folder / request.file.path)
    return fetched


def _pinned(said: _Origin, file: AssetFile) -> _Origin:
    """Replace the server's values by the catalogue's pins; SourceError if they differ."""
    other_hash = len(said.digest) == 64 and file.sha256 not in {None, said.digest}
    other_size = None not in {said.size, file.size} and said.size != file.size
    if other_hash or other_size:
        raise SourceError(
            "The server's {file} differs from the one that Rubato expects.",
            hint="Update Rubato; its list may be outdated.",
            file=file.path,
        )
    return replace(said, size=file.size or said.size, digest=file.sha256 or said.digest)


def _partial(origin: _Origin, request: FetchRequest) -> Path:
    """Return the path of this version's partial file. Delete those of other versions, partial files
    without a known hash, and anything but plain files.
    """
    final = request.folder / request.file.path
    final.parent.mkdir(parents=True, exist_ok=True)
    version = hashlib.sha256(f"{origin.url}\n{origin.digest}".encode()).hexdigest()[:16]
    partial = final.with_name(f"{final.name}.{version}.partial")
    for other in final.parent.glob(f"{glob.escape(final.name)}.*.partial"):
        if other != partial or not origin.digest or not _is_plain(other):
            other.unlink()
    return partial


def _is_plain(path: Path) -> bool:
    """Return whether it is a regular file with one name: never write through a planted link."""
    status = path.lstat()
    return stat.S_ISREG(status.st_mode) and status.st_nlink == 1


def _fill_partial(origin: _Origin, request: FetchRequest, partial: Path) -> str:
    """Fill the partial file and return its sha256; delete it and return "" if it is wrong."""
    wanted = Download(
        origin.url,
        origin.size,
        request.file.most_bytes,
        request.check_space,
        request.step,
        request.pause,
    )
    flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
    with os.fdopen(os.open(partial, flags, 0o644), "r+b") as stream:
        receive(wanted, stream)
    sha256 = _hash(partial, hashlib.sha256())
    if not _is_right(partial, sha256, origin):
        partial.unlink()
        return ""
    return sha256


def _is_right(path: Path, sha256: str, origin: _Origin) -> bool:
    """Compare with a sha256, with git's hash or, without a hash, with the size alone."""
    size = path.stat().st_size
    if origin.size not in {None, size}:
        return False
    if len(origin.digest) == 64:
        return sha256 == origin.digest
    begin = hashlib.sha1(f"blob {size}\0".encode(), usedforsecurity=False)
    return not origin.digest or _hash(path, begin) == origin.digest


@contextmanager
def _translate_hub_errors(file: str, repository: str) -> Iterator[None]:
    """Convert errors of the hub's library to SourceErrors."""
    import httpx
    from huggingface_hub.errors import (
        EntryNotFoundError,
        GatedRepoError,
        HfHubHTTPError,
        RepositoryNotFoundError,
    )

    try:
        yield
    except GatedRepoError as error:
        raise SourceError(
            "{name} asks for its terms to be accepted first.",
            hint="Open its page in a browser, or choose another model.",
            name=repository,
        ) from error
    except (RepositoryNotFoundError, EntryNotFoundError) as error:
        raise SourceError(
            "{name} has no file {file}.",
            hint="Update Rubato; its list may be outdated.",
            name=repository,
            file=file,
        ) from error
    except HfHubHTTPError as error:
        status = error.response.status_code
        raise SourceError(
            "{name} answered with status {status}.",
            hint="Try again later.",
            name=repository,
            status=status,
        ) from error
    except (httpx.HTTPError, ConnectionError, TimeoutError) as error:
        raise SourceError(
            "{name} could not be reached: {error}", hint=OFFLINE, name=repository, error=error
        ) from error
    except (*ENVIRONMENT_FAULTS, httpx.InvalidURL) as error:
        raise environment_fault(repository, error) from error


def _hash(path: Path, digest: Any) -> str:  # Any: hashlib's objects have no public type
    with path.open("rb") as stream:
        while chunk := stream.read(1 << 20):
            digest.update(chunk)
    return str(digest.hexdigest())
