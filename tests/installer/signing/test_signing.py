"""The ceremony by its commands: keys, a root that two of three sign, a release, and its checks."""

import json
import stat
import sys
from pathlib import Path

import pytest

from installer.commands import SetupError
from installer.signing import keys
from installer.signing.__main__ import main
from tests.engine.updates.served import payload

NAMES = ("root-1", "root-2", "root-3", "targets", "online")


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with all keys made."""
    monkeypatch.setenv(keys.PASSPHRASE, "twelve letters and more")
    for name in NAMES:
        assert main(["key", str(tmp_path / name)]) == 0
    return tmp_path


def root(place: Path) -> int:
    public = {name: str(place / f"{name}.pub") for name in NAMES}
    words = ["root", str(place / "repository"), "--root", *[public[name] for name in NAMES[:3]]]
    return main([*words, "--targets", public["targets"], "--online", public["online"]])


def signed(place: Path, version: int, *names: str) -> None:
    path = str(place / "repository" / "metadata" / f"{version}.root.json")
    for name in names:
        assert main(["sign", path, str(place / name)]) == 0


def publish(place: Path) -> int:
    folder = payload(place / "release", "0.2.0")
    words = ["publish", str(place / "repository"), "--linux", str(folder)]
    return main([*words, "--targets", str(place / "targets"), "--online", str(place / "online")])


def test_the_ceremony_and_a_release_stand_every_check(place: Path):
    assert root(place) == 0
    signed(place, 1, "root-1", "root-3")
    assert publish(place) == 0
    assert main(["renew", str(place / "repository"), "--online", str(place / "online")]) == 0
    assert main(["check", str(place / "repository")]) == 0
    metadata = place / "repository" / "metadata"
    assert json.loads((metadata / "timestamp.json").read_text())["signed"]["version"] == 2


def test_one_signature_is_not_enough(place: Path, capsys: pytest.CaptureFixture[str]):
    root(place)
    signed(place, 1, "root-1", "root-1")
    assert main(["check", str(place / "repository")]) == 1
    assert "1/2" in capsys.readouterr().err


def test_a_new_root_wants_two_of_the_old_keys_too(place: Path):
    root(place)
    signed(place, 1, "root-1", "root-2")
    for name in NAMES[:3]:
        (place / name).rename(place / f"old-{name}")
        assert main(["key", str(place / name)]) == 0
    root(place)
    signed(place, 2, "root-1", "root-2", "old-root-3")
    assert main(["check", str(place / "repository")]) == 1
    signed(place, 2, "old-root-2")
    assert main(["check", str(place / "repository")]) == 0


def test_a_root_with_one_key_twice_is_none(place: Path, capsys: pytest.CaptureFixture[str]):
    (place / "root-3.pub").write_bytes((place / "root-1.pub").read_bytes())
    assert root(place) == 1
    assert "different keys" in capsys.readouterr().err


def test_a_release_without_a_system_is_none(place: Path, capsys: pytest.CaptureFixture[str]):
    words = ["publish", str(place / "repository"), "--targets", str(place / "targets")]
    assert main([*words, "--online", str(place / "online")]) == 1
    assert "at least one system" in capsys.readouterr().err


def test_a_key_is_encrypted_its_owner_s_alone_and_never_written_over(place: Path):
    key = place / "online"
    assert key.read_text().startswith("-----BEGIN ENCRYPTED PRIVATE KEY-----")
    if sys.platform != "win32":
        assert stat.S_IMODE(key.stat().st_mode) == 0o600
    with pytest.raises(SetupError, match="there already"):
        keys.make(key)


@pytest.mark.parametrize("passphrase", ["short", "twelve letters, but others"])
def test_a_wrong_passphrase_opens_nothing(
    passphrase: str, place: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv(keys.PASSPHRASE, passphrase)
    with pytest.raises(SetupError, match="cannot be opened"):
        keys.signer(place / "online")


def test_a_short_passphrase_makes_no_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv(keys.PASSPHRASE, "short")
    with pytest.raises(SetupError, match="at least"):
        keys.make(tmp_path / "key")
    assert not list(tmp_path.iterdir())


def test_what_is_no_public_half_is_told(tmp_path: Path):
    (tmp_path / "x.pub").write_text("[]")
    with pytest.raises(SetupError, match="public half"):
        keys.public(tmp_path / "x.pub")
