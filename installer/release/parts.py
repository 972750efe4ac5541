"""The parts of a release: their list (SBOM, CycloneDX 1.6), all their licences, and the changes.

Invariant: made from the pins, which decide what is installed. Licences are taken from the packages
in this environment. The newest heading of CHANGELOG.md must equal the version in pyproject.toml, so
neither can be forgotten.
"""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

from engine import licences
from installer.commands import SetupError
from installer.pin import pins
from installer.plan import PINS, ROOT

_HEADING = re.compile(r"^## (\S+).*$", re.MULTILINE)


def version(root: Path = ROOT) -> str:
    """Return the version, from the only place where it is written."""
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    return str(project["project"]["version"])


def changes(root: Path = ROOT) -> str:
    """Return the changes of the newest version. SetupError if the change log lacks it."""
    text = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    headings = list(_HEADING.finditer(text))
    if not headings or headings[0][1] != version(root):
        found = headings[0][1] if headings else "nothing"
        raise SetupError(
            f"CHANGELOG.md begins with {found}, but the version in pyproject.toml is "
            f"{version(root)}. Write down what changed, or correct the version."
        )
    end = headings[1].start() if len(headings) > 1 else len(text)
    said = text[headings[0].end() : end].strip()
    if not said:
        raise SetupError(f"CHANGELOG.md has no text for {version(root)}.")
    return said


def pinned(folder: Path = PINS) -> str:
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


def papers(folder: Path = PINS) -> str:
    """The licence texts of all parts, one after the other."""
    wanted = {_key(pin.name) for pin in pins(pinned(folder))} | {"rubato", "rubato-sans-(font)"}
    return (
        "\n\n".join(
            _licence_section(work) for work in licences.works() if _key(work.name) in wanted
        )
        + "\n"
    )


def _licence_section(work: licences.Work) -> str:
    head = f"{work.name} {work.version}".strip() + f": {work.terms}"
    text = licences.text_of(work).strip() or "The package contains no licence text."
    return f"{head}\n{'=' * len(head)}\n\n{text}\n"


def _key(name: str) -> str:
    return re.sub(r"[-_. ]+", "-", name).lower()
