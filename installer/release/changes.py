"""Reads CHANGELOG.md: the changes of a release, as shown to a person before an update.

Invariant: the newest heading must equal the version in pyproject.toml, so neither can be forgotten.
"""

import re
import tomllib
from pathlib import Path

from installer.commands import SetupError
from installer.plan import ROOT

_HEADING = re.compile(r"^## (\S+).*$", re.MULTILINE)


def version(root: Path = ROOT) -> str:
    """The version, from the only place where it is written."""
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    return str(project["project"]["version"])


def changes(root: Path = ROOT) -> str:
    """The changes of the newest version. SetupError if the change log does not mention it."""
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
        raise SetupError(f"CHANGELOG.md says nothing of {version(root)}.")
    return said
