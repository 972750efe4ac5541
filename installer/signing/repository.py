"""The repository as files: metadata/ and targets/, changed step by step.

Invariant: the newest timestamp names only files that already exist, so a copy made at any moment,
or a client that reads meanwhile, sees either the old or the new state, complete.
"""

import json
import os
import shutil
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from securesystemslib.signer import CryptoSigner, Key
from tuf.api.exceptions import RepositoryError, StorageError
from tuf.api.metadata import (
    Metadata,
    MetaFile,
    Root,
    Snapshot,
    TargetFile,
    Targets,
    Timestamp,
)
from tuf.api.serialization.json import JSONSerializer

from installer.bootstrap.payload import LIST, read
from installer.commands import SetupError

ROOT_KEYS, ROOT_THRESHOLD = 3, 2
DAYS = {"root": 730, "targets": 365, "snapshot": 365, "timestamp": 14}
RELEASE = "release.json"


class Repository:
    """The folder. `now` is the time from which signatures are valid."""

    def __init__(self, folder: Path, now: datetime | None = None) -> None:
        self.folder = folder
        self.now = now or datetime.now(UTC)

    @property
    def metadata(self) -> Path:
        return self.folder / "metadata"

    # --------------------------------------------------------------------- root

    def new_root(self, root_keys: Sequence[Key], targets_key: Key, online_key: Key) -> Path:
        """Write the next root, for two of the root keys to sign. SetupError for too few keys."""
        if len({key.keyid for key in root_keys}) != ROOT_KEYS:
            raise SetupError(f"A root has {ROOT_KEYS} different keys.")
        before = self.newest("root")
        root = Root(version=before + 1, expires=self._expiry("root"), consistent_snapshot=True)
        roles = {"root": root_keys, "targets": [targets_key]}
        roles |= {"snapshot": [online_key], "timestamp": [online_key]}
        for role, held in roles.items():
            for key in held:
                root.add_key(key, role)
        root.roles["root"].threshold = ROOT_THRESHOLD
        path = self.metadata / f"{root.version}.root.json"
        self._write(Metadata(root), path)
        return path

    def check(self) -> None:
        """SetupError unless every root is signed by itself and its predecessor, and the rest by
        the newest.
        """
        try:
            roots = [
                _read(self.metadata / f"{n}.root.json") for n in range(1, self.newest("root") + 1)
            ]
            if not roots:
                raise SetupError(f"{self.metadata} has no root.")
            for before, root in zip(roots[:1] + roots, roots, strict=False):
                for judge in (before, root):
                    judge.signed.verify_delegate("root", root.signed_bytes, root.signatures)
            for role in ("targets", "snapshot", "timestamp"):
                if self.newest(role):
                    signed = _read(self._path(role, self.newest(role)))
                    roots[-1].signed.verify_delegate(role, signed.signed_bytes, signed.signatures)
        except (ValueError, RepositoryError, StorageError) as error:
            raise SetupError(f"The repository is not as it should be: {error}") from error

    # ----------------------------------------------------------------- releases

    def publish(
        self,
        payloads: dict[str, Path],
        changes: str,
        targets_signer: CryptoSigner,
        online: CryptoSigner,
    ) -> None:
        """Offer a release: system -> the folder that installer.bundle made for it."""
        before = self.newest("targets")
        signed = _read(self._path("targets", before)).signed.targets if before else {}
        for system, folder in payloads.items():
            signed.update(self._take(system, folder, changes))
        targets = Targets(before + 1, expires=self._expiry("targets"), targets=signed)
        self._sign(targets, targets_signer)
        self.renew(online)

    def renew(self, online: CryptoSigner) -> None:
        """Sign a new snapshot and timestamp of the current offer."""
        metas = {"targets.json": MetaFile(self.newest("targets"))}
        snapshot = Snapshot(
            self.newest("snapshot") + 1, expires=self._expiry("snapshot"), meta=metas
        )
        self._sign(snapshot, online)
        now = MetaFile(snapshot.version)
        version = self.newest("timestamp") + 1
        self._sign(Timestamp(version, expires=self._expiry("timestamp"), snapshot_meta=now), online)

    def newest(self, role: str) -> int:
        """The version of a role's newest metadata; 0 before the first."""
        if role == "timestamp":
            path = self.metadata / "timestamp.json"
            return _read(path).signed.version if path.exists() else 0
        files = self.metadata.glob(f"*.{role}.json")
        return max((int(path.name.partition(".")[0]) for path in files), default=0)

    # ------------------------------------------------------------------- inside

    def _take(self, system: str, folder: Path, changes: str) -> dict[str, TargetFile]:
        """Copy a release's files to where they are served; return the metadata of each."""
        payload = read(folder)
        payload.check()
        place = f"{payload.version}/{system}"
        names = [*sorted(payload.files), LIST]
        told = {"version": payload.version, "changes": changes, "folder": place, "files": names}
        about = self.folder / "targets" / system / RELEASE
        about.parent.mkdir(parents=True, exist_ok=True)
        about.write_text(json.dumps(told, indent=1, sort_keys=True) + "\n", encoding="utf-8")
        taken = {f"{place}/{name}": self._serve(f"{place}/{name}", folder / name) for name in names}
        return taken | {f"{system}/{RELEASE}": self._serve(f"{system}/{RELEASE}", about)}

    def _serve(self, path: str, file: Path) -> TargetFile:
        """Copy a file to a name that contains its hash."""
        target = TargetFile.from_file(path, str(file), ["sha256"])
        if os.access(file, os.X_OK):
            target.unrecognized_fields["custom"] = {"executable": True}
        served = self.folder / "targets" / path
        served = served.with_name(f"{target.hashes['sha256']}.{served.name}")
        if not served.exists():
            served.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, served.with_name("new"))
            served.with_name("new").replace(served)
        return target

    def _sign(self, signed: Targets | Snapshot | Timestamp, signer: CryptoSigner) -> None:
        document = Metadata(signed)
        document.sign(signer)
        self._write(document, self._path(signed.type, signed.version))

    def _path(self, role: str, version: int) -> Path:
        name = "timestamp.json" if role == "timestamp" else f"{version}.{role}.json"
        return self.metadata / name

    def _write(self, document: Metadata, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        fresh = path.with_name(path.name + ".new")
        document.to_file(str(fresh), JSONSerializer(compact=False))
        fresh.replace(path)

    def _expiry(self, role: str) -> datetime:
        return (self.now + timedelta(days=DAYS[role])).replace(microsecond=0)


def add_signature(path: Path, signer: CryptoSigner) -> int:
    """Add a signature to a file of metadata; return the number of signatures."""
    document = _read(path)
    document.sign(signer, append=True)
    fresh = path.with_name(path.name + ".new")
    document.to_file(str(fresh), JSONSerializer(compact=False))
    fresh.replace(path)
    return len(document.signatures)


def _read(path: Path) -> Metadata:
    return Metadata.from_file(str(path))
