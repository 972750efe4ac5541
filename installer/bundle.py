"""The release as a folder, the same for every system, and for Linux as a tar:

    python -m installer.bundle FOLDER [--system linux|windows|macos] [--tar]

It contains our wheel, the pinned packages with their hashes, uv from its own wheel, and the
bootstrapper. Wrappers (tar, NSIS, .app) put this folder onto a machine.

Invariant: the folder appears complete or not at all; everything in it is listed with its hash.
"""

import argparse
import gzip
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Sequence
from pathlib import Path

from installer.bootstrap.paths import LEAST_FOR_BYTE_CODE
from installer.bootstrap.payload import BOOTSTRAPPER, LIST, Payload, write_list
from installer.commands import SetupError
from installer.plan import PINS, ROOT

# The name of uv's wheel for each system, and of the program in it.
SYSTEMS = {
    "linux": ("manylinux_2_17_x86_64", "uv"),
    "windows": ("win_amd64", "uv.exe"),
    "macos": ("macosx_11_0_arm64", "uv"),
}
_PINS = ("run.txt", "torch*.txt")
# copied beside the package bootstrap
_OURS = ("__init__.py", "commands.py", "needs.toml", "plan.py", "system.py")
_MAIN = f"""\
import os
import shutil
import sys

if shutil.disk_usage(sys.path[0]).free < {LEAST_FOR_BYTE_CODE}:  # before anything is imported
    sys.dont_write_bytecode = True
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"

from installer.bootstrap.__main__ import main

sys.exit(main())
"""


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--system", choices=list(SYSTEMS), default="linux")
    parser.add_argument("--tar", action="store_true", help="FOLDER.tar.gz as well")
    options = parser.parse_args(arguments)
    try:
        made = bundle(options.folder, options.system)
    except SetupError as error:
        print(f"bundle: {error}", file=sys.stderr)
        return 1
    print(f"Rubato {made.version} for {options.system}: {made.folder}")
    if options.tar:
        print(tar(made.folder))
    return 0


def bundle(folder: Path, system: str = "linux") -> Payload:
    """Make the release for one system; an earlier release in this folder is replaced."""
    check_replaceable(folder, LIST)
    fresh = folder.with_name(folder.name + ".new")
    shutil.rmtree(fresh, ignore_errors=True)
    (fresh / "pins").mkdir(parents=True)
    build = [str(Path(sys.executable).with_name("uv")), "build", "--wheel", "--quiet"]
    where = ["--no-create-gitignore", "--out-dir", str(fresh), str(ROOT)]
    subprocess.run([*build, *where], check=True)
    for pattern in _PINS:
        for path in PINS.glob(pattern):
            shutil.copyfile(path, fresh / "pins" / path.name)
    put_uv(fresh, system)
    put_bootstrapper(fresh / BOOTSTRAPPER)
    if system != "windows":
        setup = fresh / "rubato-setup"
        shutil.copyfile(ROOT / "installer" / "rubato-setup.sh", setup)
        setup.chmod(0o755)
    version = next(fresh.glob("rubato-*.whl")).name.split("-")[1]
    write_list(fresh, version)
    shutil.rmtree(folder, ignore_errors=True)
    fresh.rename(folder)
    return Payload(folder, version, {})


def check_replaceable(folder: Path, mark: str) -> None:
    """SetupError if the folder contains files but not the mark of an earlier release."""
    if folder.exists() and not (folder / mark).is_file() and any(folder.iterdir()):
        raise SetupError(f"{folder} contains other files. Name a new folder, or empty it.")


def tar(folder: Path) -> Path:
    """Pack the folder into one file beside it; the same folder gives the same bytes."""
    path = folder.with_name(folder.name + ".tar.gz")
    fresh = path.with_name(path.name + ".new")

    def plain(entry: tarfile.TarInfo) -> tarfile.TarInfo:
        entry.uid = entry.gid = entry.mtime = 0
        entry.uname = entry.gname = ""
        entry.mode = 0o755 if entry.isdir() or entry.mode & 0o100 else 0o644
        return entry

    with (
        fresh.open("wb") as raw,
        gzip.GzipFile("", "wb", 6, raw, mtime=0) as packed,
        tarfile.open(fileobj=packed, mode="w") as archive,
    ):
        archive.add(folder, folder.name, filter=plain)  # sorted by name
    fresh.replace(path)
    return path


def put_uv(folder: Path, system: str) -> None:
    """Copy the uv program of the pinned version from the wheel for that system."""
    platform, name = SYSTEMS[system]
    with tempfile.TemporaryDirectory() as place:
        pip = [sys.executable, "-P", "-m", "pip", "download", "--quiet", "--no-deps"]
        pip += ["--only-binary", ":all:", "--platform", platform, "--dest", place]
        subprocess.run([*pip, "--require-hashes", "-r", str(PINS / "setup.txt")], check=True)
        (wheel,) = Path(place).glob("*.whl")
        with zipfile.ZipFile(wheel) as archive:
            inside = next(each for each in archive.namelist() if each.endswith(f"/scripts/{name}"))
            (folder / name).write_bytes(archive.read(inside))
    (folder / name).chmod(0o755)


def put_bootstrapper(folder: Path) -> None:
    """Make a folder that any suitable Python can run as a program."""
    source, target = ROOT / "installer", folder / "installer"
    shutil.copytree(
        source / "bootstrap", target / "bootstrap", ignore=shutil.ignore_patterns("__pycache__")
    )
    for name in _OURS:
        shutil.copyfile(source / name, target / name)
    (folder / "__main__.py").write_text(_MAIN, encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
