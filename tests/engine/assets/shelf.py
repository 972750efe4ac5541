"""Packages in a folder, which pip takes for an index."""

import zipfile
from pathlib import Path

from engine.assets.packages import Package


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
