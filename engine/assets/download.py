"""Download one address into one open file: resumable, limited in size, and with time limits.

Invariant: no more than the agreed size is ever written, whatever the server sends.
"""

import email.utils
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING

from engine.errors import AssetError
from engine.translatable import Translatable

if TYPE_CHECKING:
    import httpx  # its import takes half a second

SILENCE_S = 20.0  # without a byte before the connection counts as lost
TRIES = 5  # in a row without a byte
LONGEST_WAIT_S = 60.0  # longest wait for a busy server; longer ones are reported to the user
WAIT_STEP_S = 0.2  # how soon a cancelled wait ends
OFFLINE = Translatable("Check the connection and fetch it again; it goes on where it stopped.")
BUSY = {408, 425, 429, 500, 502, 503, 504}


class SourceError(AssetError):
    """This source cannot deliver the file; another one may."""


@dataclass(frozen=True)
class Download:
    """A download. `size` in bytes, None while unknown; `most_bytes` is the limit. `check_space`
    gets the bytes still missing and may raise; `step` gets bytes done and in total (0: unknown) and
    may raise to cancel; `pause` sleeps.
    """

    url: str
    size: int | None
    most_bytes: int
    check_space: Callable[[int], None]
    step: Callable[[int, int], None]
    pause: Callable[[float], None] = time.sleep


def receive(wanted: Download, stream: IO[bytes]) -> None:
    """Append to `stream` until the file is complete, over as many connections as needed.

    SourceError if the server refuses, reports a wrong size, or disconnects before it sent anything.
    The content of `stream` can then be resumed.
    """
    name, failed, received = wanted.url.rsplit("/", 1)[-1], 0, False
    with _client(name) as client:
        while not _is_complete(wanted, stream):
            begun = stream.tell()
            if wanted.size is not None:
                wanted.check_space(wanted.size - begun)
            try:
                with _translate_errors(name):
                    _receive_once(client, wanted, stream)
            except _Interruption as interruption:
                received = received or stream.tell() > begun
                failed = 0 if stream.tell() > begun else failed + 1
                if failed >= TRIES or not (received or interruption.busy):
                    raise SourceError(interruption.message, hint=OFFLINE) from interruption
                _wait(wanted, stream, interruption.wait_s or 2.0**failed)
            else:
                return


def _client(name: str) -> "httpx.Client":
    import httpx

    try:
        return httpx.Client(follow_redirects=True, timeout=SILENCE_S)
    except (*ENVIRONMENT_FAULTS, httpx.InvalidURL) as error:
        raise environment_fault(name, error) from error


# Errors of httpx for a proxy or a file named by the environment: the package for SOCKS proxies is
# missing, the address is invalid, or the file does not exist.
ENVIRONMENT_FAULTS = (ImportError, ValueError, OSError)


def environment_fault(name: str, error: Exception) -> SourceError:
    return SourceError(
        "{name} cannot be fetched with the proxy or the certificates that the environment names: "
        "{error}",
        hint="Check ALL_PROXY, HTTPS_PROXY, SSL_CERT_FILE and SSLKEYLOGFILE, and start again.",
        name=name,
        error=error,
    )


class _Interruption(SourceError):
    """The rest may come over another connection, after `wait_s` if the server requested it."""

    def __init__(
        self, message: str, /, *, busy: bool = False, wait_s: float = 0.0, **values: object
    ) -> None:
        super().__init__(message, hint="", **values)
        self.busy = busy
        self.wait_s = wait_s


def _is_complete(wanted: Download, stream: IO[bytes]) -> bool:
    """Return whether the file is complete; if it is too large, empty it."""
    done = stream.seek(0, os.SEEK_END)
    if wanted.size is not None and done > wanted.size:
        stream.truncate(0)
        done = stream.seek(0)
    return done == wanted.size


def _receive_once(client: "httpx.Client", wanted: Download, stream: IO[bytes]) -> None:
    done = stream.tell()
    headers = {"Accept-Encoding": "identity"} | ({"Range": f"bytes={done}-"} if done else {})
    with client.stream("GET", wanted.url, headers=headers) as response:
        if done and not _continues(response, done):
            stream.truncate(0)
            done = stream.seek(0)
        response.raise_for_status()
        total = _total(response, done) or wanted.size or 0
        if total > wanted.most_bytes or wanted.size not in {None, total}:
            raise _wrong_size(wanted, total)
        if wanted.size is None:
            wanted.check_space(total - done)
        for chunk in response.iter_bytes():
            done += len(chunk)
            if done > (total or wanted.most_bytes):
                raise _wrong_size(wanted, done)
            stream.write(chunk)
            wanted.step(done, total)
    if done < total:
        raise _Interruption("The connection was closed too early.")


def _continues(response: "httpx.Response", done: int) -> bool:
    """Return whether the server sends the rest. Many send the complete file, and 416 sends none."""
    where = response.headers.get("Content-Range", "")
    busy = response.status_code in BUSY
    return busy or (response.status_code == 206 and where.startswith(f"bytes {done}-"))


def _total(response: "httpx.Response", done: int) -> int | None:
    length = response.headers.get("Content-Length", "")
    plain = length.isascii() and length.isdigit() and "Content-Encoding" not in response.headers
    return done + int(length) if plain else None


def _wrong_size(wanted: Download, total: int) -> SourceError:
    expected = wanted.most_bytes if wanted.size is None else wanted.size
    return SourceError(
        "The server would send {size} MB where {expected} MB at most were expected."
        if wanted.size is None
        else "The server would send {size} MB where {expected} MB were expected.",
        hint="Update Rubato; its list may be outdated.",
        size=f"{total / 1e6:,.1f}",
        expected=f"{expected / 1e6:,.1f}",
    )


@contextmanager
def _translate_errors(name: str) -> Iterator[None]:
    """Convert httpx's errors to SourceErrors."""
    import httpx

    try:
        yield
    except httpx.HTTPStatusError as error:
        raise _refusal(name, error.response) from error
    except httpx.TransportError as error:
        raise _Interruption(
            "The server of {name} could not be reached: {error}", name=name, error=error
        ) from error
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise SourceError(
            "{name} could not be fetched: {error}", hint=OFFLINE, name=name, error=error
        ) from error


def _refusal(name: str, response: "httpx.Response") -> SourceError:
    host, status = response.url.host, response.status_code
    if status not in BUSY:
        update = Translatable("Update Rubato; its list may be outdated.")
        if status in {401, 403, 404, 410}:
            return SourceError("{name} has no file {file}.", hint=update, name=host, file=name)
        return SourceError(
            "{name} answered with status {status} for {file}.",
            hint=update,
            name=host,
            status=status,
            file=name,
        )
    wait_s = _asked_wait_s(response.headers.get("Retry-After", ""))
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


def _asked_wait_s(text: str) -> float:
    """Parse Retry-After: seconds, or a date."""
    if text.isascii() and text.isdigit():
        return float(text[:9])
    try:
        return max(0.0, email.utils.parsedate_to_datetime(text).timestamp() - time.time())
    except (ValueError, OverflowError, OSError):
        return 0.0


def _wait(wanted: Download, stream: IO[bytes], wait_s: float) -> None:
    for _ in range(round(min(wait_s, LONGEST_WAIT_S) / WAIT_STEP_S)):
        wanted.step(stream.tell(), wanted.size or 0)
        wanted.pause(WAIT_STEP_S)
