"""What can be fetched: resources/models.toml as values.

Invariant: every path stays inside its asset's folder, and no asset is a pickle that would be loaded
without `weights_only`.
"""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Any

from engine.assets.packages import Member, Package
from engine.errors import AssetError, InvalidInput
from engine.resources import resource


@dataclass(frozen=True)
class HubSource:
    """A model repository on a hub that speaks the Hugging Face protocol."""

    repository: str
    revision: str


@dataclass(frozen=True)
class ReleaseSource:
    """Files attached to the release `tag` of a GitHub repository; its name may well be 'latest'."""

    repository: str
    tag: str


@dataclass(frozen=True)
class AssetFile:
    """A file and what is known of it. `megabytes` is for the person to decide by; `size` in bytes
    and `sha256` are pinned, None where nobody vouches for them. `members` are the parts of the same
    file in packages, a second source."""

    path: str
    megabytes: int
    size: int | None = None
    sha256: str | None = None
    members: tuple[Member, ...] = ()

    @property
    def most_bytes(self) -> int:
        """What the file may have at most: its size, or ten times what was said of it."""
        return self.size if self.size is not None else self.megabytes * 10_000_000


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
    files = tuple(_file(name, file) for file in entry["files"])
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


def _file(name: str, entry: Mapping[str, Any]) -> AssetFile:
    path, size, sha256 = _inside(name, entry["path"]), entry.get("bytes"), entry.get("sha256")
    unknown = entry.keys() - {"path", "megabytes", "bytes", "sha256", "packed"}
    sound = not unknown and ("megabytes" in entry) != (size is not None)
    if not sound or not (sha256 is None or re.fullmatch("[0-9a-f]{64}", sha256)):
        raise AssetError(
            f"models.toml: {name} does not describe {path} as it must.",
            hint="A file has a path, either megabytes or bytes, and maybe a sha256.",
        )
    megabytes = entry["megabytes"] if size is None else max(1, round(size / 1e6))
    members = tuple(_member(name, text) for text in entry.get("packed", ()))
    if members and (size is None or sha256 is None):
        raise AssetError(f"models.toml: {name} has {path} in packages without bytes and sha256.")
    return AssetFile(path, megabytes, size, sha256, members)


def _member(name: str, text: str) -> Member:
    """'package==version/path in it'."""
    found = re.fullmatch(r"([A-Za-z0-9][\w.-]*)==([\w.+]+)/(.+)", text)
    if found is None:
        raise AssetError(f"models.toml: {name} names no package and path: {text}.")
    return Member(Package(found[1], found[2]), found[3])


def _inside(name: str, path: str) -> str:
    """`path` when it stays below its folder."""
    pure = PurePosixPath(path)
    if pure.is_absolute() or ".." in pure.parts or Path(path).drive:
        raise AssetError(f"models.toml: {name} has a file outside its folder: {path}.")
    return path
