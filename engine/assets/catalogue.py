"""The catalogue of models that can be fetched: resources/models.toml as values.

Invariant: every path stays inside its asset's folder, and no asset is a pickle that is loaded
without `weights_only`.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from functools import cache
from pathlib import Path, PurePosixPath

from engine.errors import AssetError, InvalidInput
from engine.resources import resource
from engine.translatable import Translatable
from engine.typed_values import WrongValue, build, toml_table

_COMMIT = re.compile("[0-9a-f]{40}")


class Registry(Enum):
    """The registry of a package."""

    PYPI = "PyPI"
    NPM = "npm"


@dataclass(frozen=True)
class Package:
    name: str
    version: str
    registry: Registry = Registry.PYPI


@dataclass(frozen=True)
class Member:
    """A file inside a package; in npm's archives every path begins with 'package/'."""

    package: Package
    path: str


@dataclass(frozen=True)
class AssetFile:
    """A file of an asset, as in models.toml. `megabytes` is the size shown to the user, 0 if `size`
    in bytes is pinned. `packed` names the parts of the same file in packages, a second source.
    """

    path: str
    megabytes: float = 0.0
    size: int | None = None
    sha256: str | None = None
    packed: tuple[str, ...] = ()

    @property
    def likely_bytes(self) -> int:
        """Its pinned size, otherwise the shown one."""
        return self.size if self.size is not None else round(self.megabytes * 1_000_000)

    @property
    def most_bytes(self) -> int:
        """The size limit of a download: the pinned size, otherwise ten times the shown one."""
        return self.size if self.size is not None else round(self.megabytes * 10_000_000)

    @property
    def members(self) -> tuple[Member, ...]:
        """Parse `packed`: 'package==version/path', for npm after 'npm:'. WrongValue."""
        return tuple(_member(text) for text in self.packed)


@dataclass(frozen=True)
class Asset:
    """A model that can be fetched, as in models.toml: from the `repository` of a hub at `revision`,
    or from the release `revision` of the GitHub repository `release`. `needs` names assets that it
    requires; a `superseded` one stays for users who have it. `readme_licence`: a second licence, in
    its README; empty = none. `licence_remark`: a restriction of the licence.
    """

    name: str
    title: str
    kind: str
    revision: str
    licence: str
    attribution: str
    files: tuple[AssetFile, ...]
    repository: str = ""
    release: str = ""
    needs: tuple[str, ...] = ()
    superseded: bool = False
    readme_licence: str = ""
    licence_remark: str = ""

    @property
    def licences(self) -> str:
        """Name of the licence, or of both."""
        return " / ".join(filter(None, (self.licence, self.readme_licence)))

    @property
    def terms(self) -> str:
        """The licences and the remark, as translatable text."""
        if not self.licence_remark:
            return self.licences
        remark = Translatable(self.licence_remark)
        return Translatable("{licences} ({remark})", licences=self.licences, remark=remark)

    @property
    def names_a_commit(self) -> bool:
        """Whether a commit or a release fixes the content."""
        return bool(self.release or _COMMIT.fullmatch(self.revision))

    @property
    def megabytes(self) -> int:
        return max(1, round(sum(file.megabytes or file.likely_bytes / 1e6 for file in self.files)))


@cache
def catalogue() -> Mapping[str, Asset]:
    """Return all of resources/models.toml, by name."""
    return parse(resource("models.toml").read_text(encoding="utf-8"))


def find(name: str) -> Asset:
    """Return the asset called `name`. InvalidInput lists the valid names."""
    known = catalogue()
    if name not in known:
        raise InvalidInput(
            "There is no model called '{name}'.",
            hint="Try {names}.",
            name=name,
            names=", ".join(known),
        )
    return known[name]


def with_needs(name: str) -> tuple[Asset, ...]:
    """Return a model's needs, then the model. InvalidInput for an unknown name."""
    asset = find(name)
    return (*(find(need) for need in asset.needs), asset)


def size_with_needs(name: str) -> int:
    """Return the megabytes of a model and its needs."""
    return sum(asset.megabytes for asset in with_needs(name))


def parse(text: str) -> Mapping[str, Asset]:
    """Parse a catalogue. AssetError names the wrong entry and key."""
    assets = {name: _asset(name, entry) for name, entry in toml_table(text).items()}
    for asset in assets.values():
        for need in asset.needs:
            if need not in assets:
                raise AssetError(
                    "models.toml: {name} needs {need}, which is not in the catalogue.",
                    name=asset.name,
                    need=need,
                )
    return assets


def _asset(name: str, table: object) -> Asset:
    try:
        asset = build(Asset, {**table, "name": name} if isinstance(table, dict) else table)
        if bool(asset.repository) == bool(asset.release):
            raise WrongValue("it needs either a repository or a release")  # noqa: TRY301
        for file in asset.files:
            _check_file(file, pinned=bool(asset.release))
    except WrongValue as error:
        raise AssetError(
            "models.toml: {name}: {error}.", hint=error.hint, name=name, error=error
        ) from error
    return asset


def _check_file(file: AssetFile, *, pinned: bool) -> None:
    """WrongValue. `pinned`: its source has no record of its hash."""
    path = PurePosixPath(file.path)
    if path.is_absolute() or ".." in path.parts or Path(file.path).drive:
        raise WrongValue(f"'{path}' is outside its folder")
    if (file.size is None) == (file.megabytes <= 0):
        raise WrongValue(f"'{path}' needs either megabytes or size")
    if (file.sha256 or pinned) and not re.fullmatch("[0-9a-f]{64}", file.sha256 or ""):
        raise WrongValue(f"'{path}' needs a valid sha256")
    if file.members and None in {file.size, file.sha256}:
        raise WrongValue(f"'{path}' is in packages without size and sha256")


def _member(text: str) -> Member:
    found = re.fullmatch(r"(npm:)?([A-Za-z0-9][\w.-]*)==([\w.+]+)/(.+)", text)
    if found is None:
        raise WrongValue(f"'{text}' is not a package and a path")
    registry = Registry.NPM if found[1] else Registry.PYPI
    return Member(Package(found[2], found[3], registry), found[4])
