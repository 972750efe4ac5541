"""Make a release: `python -m installer.release FOLDER [--trial] [--without WRAPPER]`.

It contains archives for every system, installers that wrap them, hashes, list of parts, licences
and notes. Each archive and installer is built twice and must be the same, byte for byte.
"""

import argparse
import filecmp
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from installer import bundle
from installer.commands import SetupError
from installer.plan import ROOT
from installer.release import audit, parts
from installer.release.parts import changes, version

SUMS = "SHA256SUMS"
# The wrappers of the archives: the target in the Makefile, and its result in dist/.
WRAPPERS = {
    "deb": "*.deb",
    "nsis": "windows/rubato-*.exe",
    "macos": "macos/rubato-*-macos.zip",
}
# Systems that none of our machines can run; stated in the notes of every release.
NOT_RUN = (
    "Not run on a real machine by those who made it: Windows and macOS (the packages are pinned for"
    " both; neither program nor installer is signed)."
)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--trial", action="store_true", help="also with changes not committed")
    parser.add_argument("--without", action="append", default=[], choices=list(WRAPPERS))
    parser.add_argument("--systems", nargs="+", default=list(bundle.SYSTEMS))
    options = parser.parse_args(arguments)
    try:
        if not options.trial:
            check_committed()
        wrappers = [name for name in WRAPPERS if name not in options.without and has_target(name)]
        release(options.folder, options.systems, wrappers)
    except SetupError as error:
        print(f"release: {error}", file=sys.stderr)
        return 1
    return 0


def release(folder: Path, systems: Sequence[str], wrappers: Sequence[str]) -> None:
    """Make the release in `folder`, in place of an earlier one. SetupError if that fails."""
    bundle.check_replaceable(folder, SUMS)
    said, number = changes(), version()
    os.environ["SOURCE_DATE_EPOCH"] = committed_at()
    fresh = folder.with_name(folder.name + ".new")
    shutil.rmtree(fresh, ignore_errors=True)
    fresh.mkdir(parents=True)
    for system in systems:
        print(f"{system}: building twice", flush=True)
        archive(fresh, f"rubato-{number}-{system}", system)
    for name in wrappers:
        print(f"{name}: building twice", flush=True)
        wrap(name, fresh)
    write(fresh / "parts.cdx.json", parts.bill())
    write(fresh / "LICENCES.txt", parts.papers())
    print("asking for known vulnerabilities", flush=True)
    write(fresh / "NOTES.md", notes(number, said, wrappers, audit.advisories()))
    write(fresh / SUMS, sums(fresh))
    shutil.rmtree(folder, ignore_errors=True)
    fresh.rename(folder)
    print(f"Rubato {number}: {folder}")


def archive(folder: Path, name: str, system: str) -> None:
    """Make the archive of one system with its wheel, twice in different places."""
    with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as two:
        made = []
        for place, umask in ((one, 0o022), (two, 0o077)):
            before = os.umask(umask)
            try:
                made.append(bundle.tar(bundle.bundle(Path(place, name), system).folder))
            finally:
                os.umask(before)
        same(*made)
        shutil.copyfile(made[0], folder / made[0].name)
        for wheel in Path(one, name).glob("*.whl"):
            shutil.copyfile(wheel, folder / wheel.name)


def same(one: Path, two: Path) -> None:
    """SetupError unless two files have the same content."""
    if not filecmp.cmp(one, two, shallow=False):
        raise SetupError(f"{one.name} differs between two builds, so it could not be verified.")


def wrap(name: str, folder: Path) -> None:
    """Make a wrapper twice with its own command, and put its result into the release."""
    for path in results(name):
        shutil.copyfile(path, folder / path.name)
    for path in results(name):
        same(folder / path.name, path)


def results(name: str) -> list[Path]:
    """Run the wrapper's command and return its results, none of an earlier call."""
    for path in (ROOT / "dist").glob(WRAPPERS[name]):
        path.unlink()
    done = subprocess.run(["make", "--no-print-directory", name], cwd=ROOT, check=False)
    found = sorted((ROOT / "dist").glob(WRAPPERS[name]))
    if done.returncode or not found:
        raise SetupError(f"`make {name}` failed; its last lines say why. Or give --without {name}.")
    return found


def has_target(name: str) -> bool:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    return re.search(rf"^{name}\b.*:", makefile, re.MULTILINE) is not None


def check_committed() -> None:
    done = subprocess.run(
        ["git", "status", "--porcelain"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    if done.stdout.strip():
        raise SetupError("There are changes that are not committed. Commit them, or give --trial.")


def committed_at() -> str:
    """Return the time of the last commit in seconds; every file of the release gets this date."""
    command = ["git", "log", "-1", "--format=%ct"]
    return subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.strip()


def notes(number: str, said: str, wrappers: Sequence[str], advisories: str) -> str:
    left = [name for name in WRAPPERS if name not in wrappers]
    made = f"\n\nNot in this release: {', '.join(left)}." if left else ""
    return f"# Rubato {number}\n\n{said}\n\n{NOT_RUN}{made}\n\n{advisories}\n"


def sums(folder: Path) -> str:
    """Return the SHA-256 of every file, in the format of `sha256sum --check`."""
    files = sorted(path for path in folder.iterdir() if path.name != SUMS)
    lines = (f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in files)
    return "".join(lines)


def write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    sys.exit(main())
