"""Packages in a folder, which pip takes for an index."""

import io
import tarfile
import zipfile
from pathlib import Path

from engine.assets.packages import Package, Registry


def put_wheel(shelf: Path, name: str, content: bytes) -> Package:
    """A package whose code would be noticed if anything ran it."""
    info = f"{name}-1.0.dist-info"
    with zipfile.ZipFile(shelf / f"{name}-1.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr(f"{name}/__init__.py", "raise SystemExit('it was run')")
        wheel.writestr(f"{name}/data.bin", content)
        wheel.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        wheel.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        wheel.writestr(f"{info}/RECORD", "")
    return Package(name, "1.0")


def put_tarball(shelf: Path, name: str, path: str, content: bytes) -> Package:
    """A package as npm packs it, with one file."""
    with tarfile.open(shelf / f"{name}-1.0.tgz", "w:gz") as archive:
        info = tarfile.TarInfo(path)
        info.size = len(content)
        archive.addfile(info, io.BytesIO(content))
    return Package(name, "1.0", Registry.NPM)
