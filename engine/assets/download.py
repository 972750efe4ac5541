"""Fetch one file from one address: resumed, limited in size, and checked by its hash.

Invariant: a file gets its final name only after its content matched its hash and is safe on the
disk; a partial file belongs to one version, whose hash its name contains. No more than the agreed
size is ever written.
"""

import glob
import hashlib
import os
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any
from urllib.parse import urlsplit

from engine.errors import AssetError
from engine.translatable import Translatable

if TYPE_CHECKING:
    import httpx  # its import takes half a second

SILENCE_S = 20.0  # without a byte before the connection counts as lost
TRIES = 5  # in a row without a byte
LONGEST_WAIT_S = 60.0  # longest wait for a busy server; longer ones are reported to the user
WAIT_STEP_S = 0.2  # how soon a cancelled wait ends
CHUNK_BYTES = 1 << 20
BUSY = {408, 425, 429, 500, 502, 503, 504}
OUTDATED = Translatable("Update Rubato; its list may be outdated.")


class SourceError(AssetError):
    """This source cannot deliver the file; another one may."""


@dataclass(frozen=True)
class Download:
    """A file to fetch. `digest` is its sha256, or git's sha1; `most_bytes` is the size limit.
    `check_space` gets the bytes still missing and may raise; `step` gets bytes done and in total
    (0: unknown) and may raise to cancel; `pause` sleeps.
    """

    url: str
    target: Path
    digest: str
    most_bytes: int
    check_space: Callable[[int], None]
    step: Callable[[int, int], None]
    pause: Callable[[float], None] = time.sleep


def fetch(wanted: Download) -> None:
    """Fetch the file, over as many connections as needed; a wrong resumed one again. The next call
    resumes the partial file. SourceError if the server refuses, sends something else, or nothing.
    """
    partial = _partial(wanted)
    for _ in range(1 + partial.exists()):
        with partial.open("ab") as stream:
            _receive(wanted, stream)
            stream.flush()
            os.fsync(stream.fileno())
        if _has_digest(partial, wanted.digest):
            partial.replace(wanted.target)
            return
        partial.unlink()
    raise SourceError(
        "{file} was damaged on the way: its hash is wrong.",
        hint="Fetch it again. If it happens twice, do not trust the server's copy.",
        file=wanted.target.name,
    )


def sha256_of(path: Path, step: Callable[[int, int], None] = lambda done, total: None) -> str:
    """Hash a file of any size; `step` gets bytes done and in total, and may raise to cancel."""
    digest, total = hashlib.sha256(), path.stat().st_size
    with path.open("rb") as stream:
        while chunk := stream.read(CHUNK_BYTES):
            digest.update(chunk)
            step(stream.tell(), total)
    return digest.hexdigest()


def _has_digest(path: Path, digest: str) -> bool:
    if len(digest) == 64:
        return sha256_of(path) == digest
    content = path.read_bytes()  # a hub has git's hash only for small files
    blob = b"blob %d\0" % len(content) + content
    return hashlib.sha1(blob, usedforsecurity=False).hexdigest() == digest


def _partial(wanted: Download) -> Path:
    """Return the partial file of this version; delete others, and links that were planted."""
    target = wanted.target
    target.parent.mkdir(parents=True, exist_ok=True)
    partial = target.with_name(f"{target.name}.{wanted.digest[:16]}.partial")
    for other in target.parent.glob(f"{glob.escape(target.name)}.*.partial"):
        status = other.lstat()
        if other != partial or not stat.S_ISREG(status.st_mode) or status.st_nlink != 1:
            other.unlink()
    return partial


def _receive(wanted: Download, stream: IO[bytes]) -> None:
    """Append to `stream` until the file is complete. SourceError."""
    import httpx

    failed, received = 0, False
    with translate_environment_errors(wanted.target.name):
        client = httpx.Client(follow_redirects=True, timeout=SILENCE_S)
    with client:
        while True:
            begun = stream.seek(0, os.SEEK_END)
            try:
                with translate_errors(wanted.target.name):
                    return _receive_once(client, wanted, stream)
            except _Interruption as interruption:
                progressed = stream.tell() > begun
                received = received or progressed
                failed = 0 if progressed else failed + 1
                if failed >= TRIES or not (received or interruption.busy):
                    raise
                wait_s = min(interruption.wait_s or 2.0**failed, LONGEST_WAIT_S)
                for _ in range(round(wait_s / WAIT_STEP_S)):
                    wanted.step(stream.tell(), 0)
                    wanted.pause(WAIT_STEP_S)


def _receive_once(client: "httpx.Client", wanted: Download, stream: IO[bytes]) -> None:
    done = stream.tell()
    headers = {"Accept-Encoding": "identity"} | ({"Range": f"bytes={done}-"} if done else {})
    with client.stream("GET", wanted.url, headers=headers) as response:
        if done and response.status_code == 416:
            return  # complete, unless its hash is wrong
        response.raise_for_status()
        if not response.headers.get("Content-Range", "").startswith(f"bytes {done}-"):
            stream.truncate(0)  # the server sends the complete file
            done = stream.seek(0)
        missing = int(response.headers.get("Content-Length", 0))
        total = done + missing if missing else 0
        _check_size(wanted, total)
        wanted.check_space(missing)
        for chunk in response.iter_raw():
            done += len(chunk)
            _check_size(wanted, done)
            stream.write(chunk)
            wanted.step(done, total)


def _check_size(wanted: Download, size: int) -> None:
    if size > wanted.most_bytes:
        raise SourceError(
            "The server would send {size} MB where {expected} MB at most were expected.",
            hint=OUTDATED,
            size=f"{size / 1e6:,.1f}",
            expected=f"{wanted.most_bytes / 1e6:,.1f}",
        )


# ---------------------------------------------------------------------- errors


class _Interruption(SourceError):
    """The rest may come over another connection, after `wait_s` if the server requested it."""

    def __init__(
        self, message: str, /, *, busy: bool = False, wait_s: float = 0.0, **values: object
    ) -> None:
        hint = Translatable("Check the connection and fetch it again; it goes on where it stopped.")
        super().__init__(message, hint=hint, **values)
        self.busy = busy
        self.wait_s = wait_s


@contextmanager
def translate_environment_errors(name: str) -> Iterator[None]:
    """Convert a client's errors for a proxy or a file named by the environment to SourceErrors: the
    package for SOCKS proxies is missing, the address is invalid, or the file does not exist.
    """
    import httpx

    try:
        yield
    except (ImportError, ValueError, OSError, httpx.InvalidURL) as error:
        raise SourceError(
            "{name} cannot be fetched with the proxy or the certificates that the environment "
            "names: {error}",
            hint="Check ALL_PROXY, HTTPS_PROXY, SSL_CERT_FILE and SSLKEYLOGFILE, and start again.",
            name=name,
            error=error,
        ) from error


@contextmanager
def translate_errors(name: str) -> Iterator[None]:
    """Convert errors of httpx and of the hub's library to SourceErrors."""
    import httpx
    from huggingface_hub.errors import HfHubHTTPError

    try:
        yield
    except (httpx.HTTPStatusError, HfHubHTTPError) as error:
        raise _refusal(name, error.response) from error
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise _Interruption(
            "The server of {name} could not be reached: {error}", name=name, error=error
        ) from error


def _refusal(name: str, response: Any) -> SourceError:  # Any: of httpx, or of an older hub library
    host, status = urlsplit(str(response.url)).hostname, response.status_code
    if status in {401, 403, 404, 410}:
        return SourceError("{name} has no file {file}.", hint=OUTDATED, name=host, file=name)
    if status not in BUSY:
        return SourceError(
            "{name} answered with status {status} for {file}.",
            hint=OUTDATED,
            name=host,
            status=status,
            file=name,
        )
    asked = response.headers.get("Retry-After", "")
    wait_s = float(asked[:9]) if asked.isascii() and asked.isdigit() else 0.0
    if wait_s > LONGEST_WAIT_S:
        return SourceError(
            "{name} is busy and asks to come back in {minutes} minutes.",
            hint="Fetch it again then; it goes on where it stopped.",
            name=host,
            minutes=f"{wait_s / 60:.0f}",
        )
    return _Interruption(
        "{name} answered with status {status}.", busy=True, wait_s=wait_s, name=host, status=status
    )
