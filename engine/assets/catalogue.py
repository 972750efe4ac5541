"""What can be fetched: resources/models.toml as values.

Invariant: every path stays inside its asset's folder, and no asset is a pickle that would be loaded
without `weights_only`.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Any

from engine.errors import AssetError, InvalidInput
from engine.resources import resource


@dataclass(frozen=True)
class HubSource:
    """A model repository on a hub that speaks the Hugging Face protocol."""

    repository: str
    revision: str


@dataclass(frozen=True)
class ReleaseSource:
    """Files attached to a release of a GitHub repository; `tag` 'latest' is the newest one."""

    repository: str
    tag: str


@dataclass(frozen=True)
class AssetFile:
    """`megabytes` is what to expect, for the person to decide by."""

    path: str
    megabytes: int


@dataclass(frozen=True)
class Asset:
    """One thing a person can fetch. `needs` names assets it does not work without."""

    name: str
    title: str
    kind: str
    source: HubSource | ReleaseSource
    licence: str
    attribution: str
    files: tuple[AssetFile, ...]
    needs: tuple[str, ...] = ()

    @property
    def megabytes(self) -> int:
        return sum(file.megabytes for file in self.files)


@cache
def catalogue() -> Mapping[str, Asset]:
    """Everything in resources/models.toml, by name."""
    return parse(resource("models.toml").read_text(encoding="utf-8"))


def find(name: str) -> Asset:
    """The asset called `name`. InvalidInput lists the names there are."""
    known = catalogue()
    if name not in known:
        raise InvalidInput(f"There is no model called {name!r}.", hint=f"Try {', '.join(known)}.")
    return known[name]


def parse(text: str) -> Mapping[str, Asset]:
    """Read a catalogue. AssetError names the entry and the key that is wrong."""
    assets = {name: _asset(name, entry) for name, entry in tomllib.loads(text).items()}
    for asset in assets.values():
        for need in asset.needs:
            if need not in assets:
                raise AssetError(f"models.toml: {asset.name} needs {need}, which is not there.")
    return assets


REQUIRED = {"title", "kind", "revision", "licence", "attribution", "files"}
ALLOWED = REQUIRED | {"repository", "release", "needs"}


def _asset(name: str, entry: Mapping[str, Any]) -> Asset:
    wrong = (REQUIRED - entry.keys()) | (entry.keys() - ALLOWED)
    if wrong or ("repository" in entry) == ("release" in entry):
        raise AssetError(
            f"models.toml: {name} has missing or unknown keys: {sorted(wrong) or 'source'}.",
            hint="An entry has either a repository or a release.",
        )
    source: HubSource | ReleaseSource
    if "repository" in entry:
        source = HubSource(entry["repository"], entry["revision"])
    else:
        source = ReleaseSource(entry["release"], entry["revision"])
    files = tuple(
        AssetFile(_inside(name, file["path"]), file["megabytes"]) for file in entry["files"]
    )
    return Asset(
        name,
        entry["title"],
        entry["kind"],
        source,
        entry["licence"],
        entry["attribution"],
        files,
        tuple(entry.get("needs", ())),
    )


def _inside(name: str, path: str) -> str:
    """`path` when it stays below its folder."""
    pure = PurePosixPath(path)
    if pure.is_absolute() or ".." in pure.parts or Path(path).drive:
        raise AssetError(f"models.toml: {name} has a file outside its folder: {path}.")
    return path
