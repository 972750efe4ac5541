"""One file over the network, through huggingface_hub: resume, retries, and the hub's own hash.

Invariant: a file reaches its final name only after its content matched what the server said of it.
"""

import hashlib
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from engine.assets.catalogue import HubSource, ReleaseSource
from engine.errors import AssetError

METADATA_S = 10.0  # for the server's first answer; a slow line needs a few seconds
OFFLINE = "Check the connection and fetch it again; it goes on where it stopped."


@dataclass(frozen=True)
class Fetched:
    """What is pinned of a file: where it came from and what it was."""

    sha256: str
    size: int
    revision: str


@dataclass(frozen=True)
class FetchRequest:
    """What to fetch into `folder`. `check_space` gets the bytes still missing and may refuse;
    `step` is told bytes done and in total and may raise to cancel."""

    folder: Path
    file: str
    check_space: Callable[[int], None]
    step: Callable[[int, int], None]
    endpoint: str | None


def fetch_from_hub(source: HubSource, request: FetchRequest) -> Fetched:
    """Fetch a file of a hub repository at the commit that its revision names now."""
    from huggingface_hub import get_hf_file_metadata, hf_hub_download, hf_hub_url

    url = hf_hub_url(
        source.repository, request.file, revision=source.revision, endpoint=request.endpoint
    )
    with _told(request.file, source.repository):
        record = get_hf_file_metadata(url, token=False, timeout=METADATA_S)
        size, commit = record.size or 0, record.commit_hash or source.revision
        request.check_space(size)
        path = Path(
            hf_hub_download(
                source.repository,
                request.file,
                revision=commit,
                local_dir=request.folder,
                token=False,
                endpoint=request.endpoint,
                tqdm_class=_bar(request.step),
            )
        )
    return _checked(path, record.etag or "", commit)


def fetch_from_release(source: ReleaseSource, request: FetchRequest) -> Fetched:
    """Fetch a file attached to a GitHub release. There is no published hash: the first download
    is pinned and later ones are held to it."""
    from huggingface_hub.file_download import http_get

    endpoint = request.endpoint or "https://github.com"
    place = "latest/download" if source.tag == "latest" else f"download/{quote(source.tag)}"
    url = f"{endpoint}/{source.repository}/releases/{place}/{quote(request.file)}"
    path = request.folder / request.file
    partial = path.with_name(path.name + ".incomplete")
    with _told(request.file, source.repository):
        begun = partial.stat().st_size if partial.exists() else 0
        request.check_space(0)
        with partial.open("ab") as stream:
            http_get(url, stream, resume_size=begun, tqdm_class=_bar(request.step))
    partial.replace(path)
    return Fetched(_hash(path, hashlib.sha256()), path.stat().st_size, source.tag)


def _bar(step: Callable[[int, int], None]) -> type[Any]:  # Any: a subclass of tqdm, untyped
    """A progress bar that draws nothing and calls `step(done, total)` instead."""
    from huggingface_hub.utils.tqdm import tqdm

    class Bar(tqdm):
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            self._done = int(kwargs.get("initial") or 0)
            self._total = int(kwargs.get("total") or 0)
            super().__init__(*args, **{**kwargs, "disable": True})  # type: ignore[no-untyped-call]

        def update(self, n: float | None = 1) -> None:
            self._done += int(n or 0)
            step(self._done, self._total)

    return Bar


@contextmanager
def _told(file: str, repository: str) -> Iterator[None]:
    """Turn the library's faults into sentences."""
    import httpx
    from huggingface_hub.errors import (
        EntryNotFoundError,
        GatedRepoError,
        HfHubHTTPError,
        LocalEntryNotFoundError,
        RepositoryNotFoundError,
    )

    try:
        yield
    except GatedRepoError as error:
        raise AssetError(
            f"{repository} asks for its terms to be accepted first.",
            hint="Open its page in a browser, or choose another model.",
        ) from error
    except LocalEntryNotFoundError as error:
        raise AssetError(f"{repository} could not be reached.", hint=OFFLINE) from error
    except (RepositoryNotFoundError, EntryNotFoundError) as error:
        raise AssetError(
            f"{repository} has no file {file}.", hint="Update Rubato; its list may be outdated."
        ) from error
    except HfHubHTTPError as error:
        raise AssetError(f"{repository} answered: {error}", hint="Try again later.") from error
    except (httpx.HTTPError, ConnectionError, TimeoutError) as error:
        raise AssetError(f"{repository} could not be reached: {error}", hint=OFFLINE) from error


def _checked(path: Path, etag: str, commit: str) -> Fetched:
    """Compare with the server's record: a sha256 for large files, git's hash for others."""
    size = path.stat().st_size
    sha256 = _hash(path, hashlib.sha256())
    if re.fullmatch(r"[0-9a-f]{64}", etag):
        same = sha256 == etag
    elif re.fullmatch(r"[0-9a-f]{40}", etag):
        same = _hash(path, hashlib.sha1(f"blob {size}\0".encode(), usedforsecurity=False)) == etag
    else:
        raise AssetError(f"The server gives no hash for {path.name}.", hint="Use the official hub.")
    if not same:
        path.unlink()
        raise AssetError(
            f"{path.name} arrived damaged: its hash is not what the server says.",
            hint="Fetch it again. If it happens twice, the server's copy is not to be trusted.",
        )
    return Fetched(sha256, size, commit)


def _hash(path: Path, digest: Any) -> str:  # Any: hashlib's objects have no public type
    with path.open("rb") as stream:
        while chunk := stream.read(1 << 20):
            digest.update(chunk)
    return str(digest.hexdigest())
