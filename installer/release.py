"""Make a release: `python -m installer.release FOLDER [--trial] [--without WRAPPER]`.

It contains archives for every system, installers that wrap them, hashes, list of parts, licences
and notes. Each archive and installer is built twice and must be the same, byte for byte.

Invariant: the version is only in pyproject.toml, and the newest heading of CHANGELOG.md must equal
it, so neither can be forgotten. The folder appears complete or not at all. Its list of parts is
made from the pins, which decide what is installed; licences are taken from the packages in this
environment. An absence of vulnerabilities is reported only if the advisories were read.
"""

import argparse
import filecmp
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from packaging.utils import canonicalize_name

from engine.doctor import licences
from installer import bundle
from installer.commands import SetupError
from installer.pin import pins
from installer.plan import PINS, ROOT

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
_HEADING = re.compile(r"^## (\S+).*$", re.MULTILINE)
AUDIT = (sys.executable, "-P", "-m", "pip_audit")
# installed by a release; one torch of each version
_AUDITED = ("setup.txt", "run.txt", "torch.txt")
_AUDIT_S = 600
_AUDIT_OPTIONS = ("--require-hashes", "--disable-pip", "--progress-spinner=off", "--format=json")


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--trial", action="store_true", help="also with changes not committed")
    parser.add_argument("--without", action="append", default=[], choices=list(WRAPPERS))
    options = parser.parse_args(arguments)
    if not options.trial and output_of("git", "status", "--porcelain"):
        sys.exit("release: There are changes that are not committed. Commit them, or give --trial.")
    try:
        wrappers = [name for name in WRAPPERS if name not in options.without]
        release(options.folder, list(bundle.SYSTEMS), wrappers)
    except SetupError as error:
        print(f"release: {error}", file=sys.stderr)
        return 1
    return 0


def output_of(*command: str) -> str:
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def release(folder: Path, systems: Sequence[str], wrappers: Sequence[str]) -> None:
    """Make the release in `folder`, in place of an earlier one. SetupError if that fails."""
    bundle.check_replaceable(folder, SUMS)
    said, number = changes(), version()
    # every file of the release gets the date of the last commit
    os.environ["SOURCE_DATE_EPOCH"] = output_of("git", "log", "-1", "--format=%ct")
    fresh = folder.with_name(folder.name + ".new")
    shutil.rmtree(fresh, ignore_errors=True)
    fresh.mkdir(parents=True)
    for system in systems:
        print(f"{system}: building twice", flush=True)
        archive(fresh, f"rubato-{number}-{system}", system)
    for name in wrappers:
        print(f"{name}: building twice", flush=True)
        wrap(name, fresh)
    write(fresh / "parts.cdx.json", bill())
    write(fresh / "LICENCES.txt", licence_texts())
    print("asking for known vulnerabilities", flush=True)
    left = ", ".join(name for name in WRAPPERS if name not in wrappers)
    lacks = [f"Not in this release: {left}."] if left else []
    notes = [f"# Rubato {number}", said, "\n\n".join([NOT_RUN, *lacks]), advisories()]
    write(fresh / "NOTES.md", "\n\n".join(notes) + "\n")
    files = sorted(fresh.iterdir())
    sums = (f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in files)
    write(fresh / SUMS, "".join(sums))
    shutil.rmtree(folder, ignore_errors=True)
    fresh.rename(folder)
    print(f"Rubato {number}: {folder}")


def write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", newline="\n")


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
        check_same(*made)
        for path in (made[0], *Path(one, name).glob("*.whl")):
            shutil.copyfile(path, folder / path.name)


def check_same(one: Path, two: Path) -> None:
    """SetupError unless two files have the same content."""
    if not filecmp.cmp(one, two, shallow=False):
        raise SetupError(f"{one.name} differs between two builds, so it could not be verified.")


def wrap(name: str, folder: Path) -> None:
    """Make a wrapper twice with its own command, and put its result into the release."""
    for path in wrapper_results(name):
        shutil.copyfile(path, folder / path.name)
    for path in wrapper_results(name):
        check_same(folder / path.name, path)


def wrapper_results(name: str) -> list[Path]:
    """Run the wrapper's command and return its results, none of an earlier call."""
    for path in (ROOT / "dist").glob(WRAPPERS[name]):
        path.unlink()
    done = subprocess.run(["make", "--no-print-directory", name], cwd=ROOT, check=False)
    found = sorted((ROOT / "dist").glob(WRAPPERS[name]))
    if done.returncode or not found:
        raise SetupError(f"`make {name}` failed; its last lines say why. Or give --without {name}.")
    return found


# ------------------------------------------------------- version, changes, parts, licences


def version(root: Path = ROOT) -> str:
    """Return the version, from the only place where it is written."""
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    return str(project["project"]["version"])


def changes(root: Path = ROOT) -> str:
    """Return the changes of the newest version. SetupError if the change log lacks it."""
    number, text = version(root), (root / "CHANGELOG.md").read_text(encoding="utf-8")
    found = _HEADING.search(text)
    if found is None or found[1] != number:
        raise SetupError(
            f"CHANGELOG.md begins with {found[1] if found else 'nothing'}, but the version in "
            f"pyproject.toml is {number}. Write down what changed, or correct the version."
        )
    said = _HEADING.split(text[found.end() :], maxsplit=1)[0].strip()
    if not said:
        raise SetupError(f"CHANGELOG.md has no text for {number}.")
    return said


def pinned(folder: Path) -> str:
    """The pins of every package that any machine gets; torch with each of its pinned builds."""
    files = (folder / "run.txt", *sorted(folder.glob("torch*.txt")))
    return "".join(file.read_text(encoding="utf-8") for file in files)


def bill(folder: Path = PINS) -> str:
    """The list of parts as CycloneDX JSON, with the hashes of their wheels; the same parts give the
    same text. SetupError if cyclonedx-py cannot write it.
    """
    project = str(ROOT / "pyproject.toml")
    options = ("--pyproject", project, "--mc-type", "application", "--output-reproducible")
    done = subprocess.run(
        [sys.executable, "-P", "-m", "cyclonedx_py", "requirements", *options, "--of", "JSON", "-"],
        input=pinned(folder),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise SetupError(f"cyclonedx-py cannot list the parts: {done.stderr.strip()[-500:]}")
    return done.stdout


def licence_texts() -> str:
    """The licence texts of all parts, one after the other."""
    wanted = {canonicalize_name(pin.name) for pin in pins(pinned(PINS))}
    wanted |= {"rubato", "rubato sans (font)"}
    works = (work for work in licences.works() if canonicalize_name(work.name) in wanted)
    return "\n\n".join(work.page() for work in works) + "\n"


# --------------------------------------------------------------------- vulnerabilities


def advisories(command: Sequence[str] = AUDIT) -> str:
    """Return what pip-audit knows of the packages of this system, or why it could not be asked."""
    files = (option for name in _AUDITED for option in ("--requirement", str(PINS / name)))
    try:
        done = subprocess.run(
            [*command, *_AUDIT_OPTIONS, *files],
            capture_output=True,
            text=True,
            check=False,
            timeout=_AUDIT_S,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return _not_checked(str(error))
    try:
        listed: list[dict[str, Any]] = json.loads(done.stdout)["dependencies"]
    except (ValueError, KeyError, TypeError):
        lines = [line for line in done.stderr.splitlines() if line.strip()]
        return _not_checked(lines[-1].strip() if lines else f"status {done.returncode}")
    skipped = [each for each in listed if "vulns" not in each]
    if len(skipped) == len(listed):  # pip-audit calls this "No known vulnerabilities found"
        return _not_checked(skipped[0]["skip_reason"] if skipped else "pip-audit read no packages")
    found = [_advisory_line(each) for each in listed if each.get("vulns")]
    text = f"Of the {len(listed) - len(skipped)} packages pinned for {sys.platform}, pip-audit "
    text += "knows these vulnerabilities:\n\n" + "\n".join(found) if found else "reports none."
    names = ", ".join(each["name"] for each in skipped)
    return text + (f"\n\nNot checked: {names}." if skipped else "")


def _advisory_line(package: dict[str, Any]) -> str:
    faults = (
        f"{fault['id']} (fixed in {', '.join(fault['fix_versions']) or 'no version'})"
        for fault in package["vulns"]
    )
    return f"- {package['name']} {package['version']}: {'; '.join(faults)}"


def _not_checked(reason: str) -> str:
    return f"The packages were not checked for known vulnerabilities: {reason}"


if __name__ == "__main__":
    sys.exit(main())
