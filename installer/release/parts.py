"""The parts of a release: their list (SBOM, CycloneDX 1.6), all their licences, and what changed.

Invariant: made from the pins, which decide what is installed. Licences are taken from the packages
in this environment; a part that is not installed here is listed without them. The newest heading of
CHANGELOG.md must equal the version in pyproject.toml, so neither can be forgotten.
"""

import re
import tomllib
import uuid
from dataclasses import dataclass
from pathlib import Path

from cyclonedx.contrib.license.factories import LicenseFactory
from cyclonedx.model import (
    ExternalReference,
    ExternalReferenceType,
    HashAlgorithm,
    HashType,
    XsUri,
)
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.output.json import JsonV1Dot6
from packageurl import PackageURL

from engine import licences
from installer.commands import SetupError
from installer.pin import pins
from installer.plan import PINS, ROOT

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


_HASH = re.compile(r"--hash=sha256:([0-9a-f]{64})")
_SPACE = uuid.UUID("a9c8ee0d-9a56-5d7c-9a43-7f6f3a8a9f10")  # of our lists


@dataclass(frozen=True)
class Part:
    """A pinned package; its hashes are those of its wheels, any of which may be installed."""

    name: str
    version: str
    hashes: tuple[str, ...]


def parts(folder: Path = PINS) -> list[Part]:
    """Every package that any machine gets, by name; torch with each of its pinned builds."""
    found: dict[tuple[str, str], set[str]] = {}
    for file in (folder / "run.txt", *sorted(folder.glob("torch*.txt"))):
        for pin in pins(file.read_text(encoding="utf-8")):
            version = pin.line.partition("==")[2].partition(" ")[0].rstrip(";")
            found.setdefault((pin.name, version), set()).update(_HASH.findall(pin.text))
    return [Part(*key, tuple(sorted(hashes))) for key, hashes in sorted(found.items())]


def bill(version: str, listed: list[Part]) -> str:
    """The list of parts as CycloneDX JSON; the same parts give the same text."""
    terms = {_key(work.name): work.terms for work in licences.works()}
    bom = Bom(serial_number=uuid.uuid5(_SPACE, f"{version} {listed}"))
    bom.metadata.timestamp = None  # type: ignore[assignment] # the same release, the same text
    bom.metadata.component = _component("rubato", version, terms)
    for part in listed:
        bom.components.add(_component(part.name, part.version, terms, part.hashes))
    bom.register_dependency(bom.metadata.component, bom.components)
    return JsonV1Dot6(bom).output_as_string(indent=1) + "\n"


def papers(listed: list[Part]) -> str:
    """The licence texts of all parts, one after the other."""
    wanted = {part.name for part in listed} | {"rubato", "rubato-sans-(font)"}
    return (
        "\n\n".join(_paper(work) for work in licences.works() if _key(work.name) in wanted) + "\n"
    )


def _paper(work: licences.Work) -> str:
    head = f"{work.name} {work.version}".strip() + f": {work.terms}"
    text = licences.text_of(work).strip() or "It came without a text of its licence."
    return f"{head}\n{'=' * len(head)}\n\n{text}\n"


def _component(
    name: str, version: str, terms: dict[str, str], hashes: tuple[str, ...] = ()
) -> Component:
    url = PackageURL("pypi", None, name, version)
    stated = terms.get(name)
    return Component(
        name=name,
        version=version,
        type=ComponentType.LIBRARY if hashes else ComponentType.APPLICATION,
        bom_ref=url.to_string(),
        purl=url,
        external_references=[_wheels(url, hashes)] if hashes else [],
        licenses=[LicenseFactory().make_from_string(stated)] if stated else [],
    )


def _wheels(url: PackageURL, hashes: tuple[str, ...]) -> ExternalReference:
    """The wheels of a part. Any of them may be installed, so their hashes are not the part's own
    hash."""
    return ExternalReference(
        type=ExternalReferenceType.DISTRIBUTION,
        url=XsUri(url.to_string()),
        hashes=[HashType(alg=HashAlgorithm.SHA_256, content=each) for each in hashes],
    )


def _key(name: str) -> str:
    return re.sub(r"[-_. ]+", "-", name).lower()
