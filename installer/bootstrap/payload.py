"""The payload: a folder with the program's wheel, the list of pinned packages and uv. Also the
choice of the torch build: with CUDA if NVIDIA's driver is active, otherwise without.

Invariant: every file is listed with its SHA-256 in payload.json and checked before it is used, so
an archive that was truncated or only partly unpacked is reported and not installed.
"""

import hashlib
import json
import re
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from installer.bootstrap.paths import LIST
from installer.commands import Cause, SetupError, local_wheels, succeeds


class Variant(Enum):
    CPU = "cpu"
    CUDA = "cuda"

    @property
    def room_gb(self) -> float:
        """The disk space that a first installation needs at most, including the cache."""
        return 3.0 if self is Variant.CPU else 10.0


def fitting_variant(driver: Path = Path("/proc/driver/nvidia/gpus")) -> Variant:
    """Return the variant by the driver: without a driver a graphics card cannot be used."""
    if shutil.which("nvidia-smi") is None:
        return Variant.CPU
    if driver.is_dir() and any(driver.iterdir()):  # faster than nvidia-smi, which takes seconds
        return Variant.CUDA
    return Variant.CUDA if succeeds(["nvidia-smi", "-L"]) else Variant.CPU


BOOTSTRAPPER = "bootstrapper"  # a folder that Python runs: this package and its __main__.py
_VERSION = re.compile(r"[0-9A-Za-z.+!]{1,60}")


@dataclass(frozen=True)
class Payload:
    folder: Path
    version: str
    files: Mapping[str, str]  # path below the folder -> SHA-256, hexadecimal

    @property
    def wheel(self) -> Path:
        found = [self.folder / name for name in self.files if Path(name).match("*.whl")]
        if len(found) != 1:
            raise SetupError(f"{self.folder} must contain one wheel, but contains {len(found)}.")
        return found[0]

    @property
    def uv(self) -> Path:
        return self.folder / ("uv.exe" if sys.platform == "win32" else "uv")

    @property
    def packages(self) -> Path:
        return self.folder / "pins" / "run.txt"

    def torch(self, variant: Variant) -> Path:
        """Return the pins of torch for this system, which a release may lack."""
        return self.folder / "pins" / torch_pins(sys.platform, variant)

    def check(self) -> None:
        """SetupError unless every file is present and unchanged."""
        for name, digest in self.files.items():
            try:
                found = hashlib.sha256((self.folder / name).read_bytes()).hexdigest()
            except OSError:
                found = "missing"
            if found != digest:
                words = "is missing" if found == "missing" else "was damaged"
                raise SetupError(
                    f"{name} of the archive {words}. Download and unpack it once more.", Cause.HASH
                )


def torch_pins(system: str, variant: Variant) -> str:
    """Return the name of the file. The package index has one build of torch for each system: with
    CUDA for Linux, without for the others. The two other builds are only on PyTorch's own index.
    """
    if system == "linux" and variant is Variant.CPU:
        return "torch-linux-cpu.txt"
    if system == "win32" and variant is Variant.CUDA:
        return "torch-windows-cuda.txt"
    return "torch.txt"


def torch_sources(pins: Path, variant: Variant) -> list[tuple[str, list[str]]]:
    """Return the sources of a pinned build, best first: the name for the user, and uv's options."""
    wheels = local_wheels()
    local = [("the local wheels", wheels)] if wheels else []
    if pins.name == "torch.txt":
        return [*local, ("the package index", [])]
    backend = "cpu" if variant is Variant.CPU else "auto"
    return [*local, (f"PyTorch's own index ({backend})", [f"--torch-backend={backend}"])]


def read(folder: Path) -> Payload:
    """Return the payload in a folder, its files not yet checked. SetupError if there is none."""
    try:
        listed = json.loads((folder / LIST).read_text(encoding="utf-8"))
        version, files = str(listed["version"]), dict(listed["files"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise SetupError(
            f"{folder} is not a complete release of Rubato ({error}). Unpack the archive once more."
        ) from error
    outside = [name for name in files if Path(name).is_absolute() or ".." in Path(name).parts]
    if outside or not _VERSION.fullmatch(version):
        raise SetupError(f"{folder / LIST} names files that cannot be part of a release.")
    return Payload(folder, version, files)


def write_list(folder: Path, version: str) -> Payload:
    """List all files of a folder as a payload of this version."""
    files = {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != LIST
    }
    text = json.dumps({"version": version, "files": files}, indent=1, sort_keys=True)
    (folder / LIST).write_text(text + "\n", encoding="utf-8")
    return Payload(folder, version, files)
