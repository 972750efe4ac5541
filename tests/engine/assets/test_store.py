"""Fetching from a loopback server that speaks the hub's protocol, whatever it does wrong."""

import errno
import hashlib
import json
import os
import socket
from dataclasses import replace
from pathlib import Path

import pytest
from huggingface_hub import close_session

from engine.assets.catalogue import Asset, AssetFile
from engine.assets.download import TRIES, Download, fetch
from engine.assets.store import PINS, State, Store
from engine.errors import AssetError, Cancelled
from tests.engine.assets import toy
from tests.engine.assets.hub import COMMIT, Hub


@pytest.fixture
def released(hub: Hub) -> Asset:
    """A model of one file in a release."""
    hub.releases = {"latest": {"weights+1.pt": toy.LARGE}}
    return toy.only(toy.RELEASED, source=toy.RELEASE)


def test_a_fetched_model_is_complete_verified_and_pinned(store, hub):
    assert store.state(toy.ASSET) is State.MISSING
    folder = store.fetch(toy.ASSET, toy.ignore, toy.never)
    assert (folder / "config.json").read_bytes() == toy.SMALL
    assert (folder / "model.safetensors").read_bytes() == toy.LARGE
    assert store.state(toy.ASSET) is State.COMPLETE
    assert store.verify(toy.ASSET, toy.ignore, toy.never) == ()
    pin = json.loads((folder / PINS).read_text())["model.safetensors"]
    assert pin == {
        "sha256": hashlib.sha256(toy.LARGE).hexdigest(),
        "size": len(toy.LARGE),
        "revision": COMMIT,
    }


def test_a_wrong_hash_is_refused_and_nothing_is_left_under_the_final_name(store, hub):
    hub.lies = True
    with pytest.raises(AssetError, match="damaged"):
        store.fetch(toy.ASSET, toy.ignore, toy.never)
    assert not (store.path(toy.ASSET) / "config.json").exists()
    assert store.state(toy.ASSET) is State.PARTIAL


def test_a_full_disk_is_noticed_before_the_download(hub, tmp_path):
    store = Store(tmp_path, endpoint=hub.endpoint, free_bytes=lambda folder: 100_000)
    with pytest.raises(AssetError, match="not enough space") as refused:
        store.fetch(toy.ASSET, toy.ignore, toy.never)
    assert "RUBATO_DATA" in refused.value.hint
    assert [path.stat().st_size for path in tmp_path.rglob("*.partial")] == [0]


def test_a_download_that_was_cancelled_or_filled_the_disk_goes_on_with_the_next_try(store, hub):
    def full(file: str, done: int, total: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(Cancelled):
        store.fetch(toy.ASSET, toy.ignore, lambda: True)
    assert store.state(toy.ASSET) is State.PARTIAL
    with pytest.raises(AssetError, match="No space left"):
        store.fetch(toy.ASSET, full, toy.never)
    store.fetch(toy.ASSET, toy.ignore, toy.never)
    assert store.state(toy.ASSET) is State.COMPLETE
    hub.requests.clear()
    store.fetch(toy.ASSET, toy.ignore, toy.never)
    assert hub.requests == []  # it is complete


def test_a_refusing_server_and_no_network_are_named_with_what_to_do(store, hub, tmp_path):
    for status, sentence in ((404, "has no file"), (401, "answered|no file"), (500, "answered")):
        hub.status = status
        with pytest.raises(AssetError, match=sentence):
            store.fetch(toy.ASSET, toy.ignore, toy.never)
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        store = Store(tmp_path, endpoint=f"http://127.0.0.1:{unused.getsockname()[1]}")
        with pytest.raises(AssetError, match="could not be reached") as failed:
            store.fetch(toy.ASSET, toy.ignore, toy.never)
    assert "goes on where it stopped" in failed.value.hint


@pytest.mark.parametrize(
    ("variable", "value"),
    [("ALL_PROXY", "socks5://host:1"), ("SSL_CERT_FILE", "gone.pem"), ("SSLKEYLOGFILE", "no/keys")],
)
def test_an_environment_that_cannot_be_used_is_told(hub, tmp_path, monkeypatch, variable, value):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(variable, value)
    wanted = Download("https://127.0.0.1:1/file", tmp_path / "file", "0" * 64, 1, print, print)
    with pytest.raises(AssetError, match="the environment names") as told:
        fetch(wanted)
    assert variable in told.value.hint
    close_session()  # the hub's library keeps its client
    try:
        with pytest.raises(AssetError, match="the environment names"):
            Store(tmp_path, endpoint=hub.endpoint).fetch(toy.ASSET, toy.ignore, toy.never)
    finally:
        close_session()


def test_a_changed_file_is_found_by_verify_and_removing_frees_the_space(store):
    folder = store.fetch(toy.ASSET, toy.ignore, toy.never)
    (folder / "model.safetensors").write_bytes(bytes(len(toy.LARGE)))
    (folder / "config.json").unlink()
    faults = store.verify(toy.ASSET, toy.ignore, toy.never)
    assert [fault.partition(" ")[2] for fault in faults] == [
        "is missing.",
        "has changed since it was fetched.",
    ]
    assert store.state(toy.ASSET) is State.PARTIAL
    assert store.remove(toy.ASSET) >= len(toy.LARGE)
    assert store.state(toy.ASSET) is State.MISSING
    assert store.remove(toy.ASSET) == 0


def cut(store: Store, hub: Hub, asset: Asset, at: int) -> None:
    """Fetch until `at` bytes are there, as when the program is killed then."""
    hub.cut_at = at

    def kill(file: str, done: int, total: int) -> None:
        if done >= at:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        store.fetch(asset, kill, toy.never)


@pytest.mark.parametrize("is_new", [False, True], ids=["the same", "a new commit"])
def test_a_killed_fetch_goes_on_where_it_was_or_begins_anew(store, hub, is_new):
    model = toy.only(AssetFile("model.safetensors", 1))
    cut(store, hub, model, 200_000)
    hub.requests.clear()
    if is_new:
        hub.files["model.safetensors"] = toy.LARGE[::-1]
    folder = store.fetch(model, toy.ignore, toy.never)
    assert (folder / "model.safetensors").read_bytes() == hub.files["model.safetensors"]
    assert toy.parts(folder) == []
    if not is_new:
        (wanted,) = [request for request in hub.requests if request.startswith("GET")]
        assert int(wanted.split("bytes=")[1].rstrip("-")) >= 130_000


@pytest.mark.parametrize("known", ["0" * 64, toy.RELEASED.sha256], ids=["known", "not known"])
def test_the_begin_of_another_version_is_never_joined_to_this_one(hub, store, released, known):
    """`known` is the hash of the version that was cut off."""
    older = toy.only(replace(toy.RELEASED, sha256=known), source=toy.RELEASE)
    hub.releases["latest"]["weights+1.pt"] = toy.LARGE[::-1]
    cut(store, hub, older, 200_000)
    hub.releases["latest"]["weights+1.pt"] = toy.LARGE
    folder = store.fetch(released, toy.ignore, toy.never)
    assert (folder / "weights+1.pt").read_bytes() == toy.LARGE
    assert toy.parts(folder) == []


@pytest.mark.parametrize("ignores_range", [False, True])
def test_a_connection_that_breaks_is_followed_by_another(hub, store, released, ignores_range):
    hub.cut_at, hub.ignores_range = 200_000, ignores_range
    seen: list[tuple[int, int]] = []
    folder = store.fetch(released, lambda file, *bytes_: seen.append(bytes_), toy.never)
    assert (folder / "weights+1.pt").read_bytes() == toy.LARGE
    assert [request.partition("bytes=")[2] for request in hub.requests] == ["", "200000-"]
    assert seen[-1] == (len(toy.LARGE), len(toy.LARGE))
    assert all(total for _, total in seen)  # also while it waits


@pytest.mark.parametrize("is_damaged", [False, True])
def test_a_part_that_is_complete_is_checked_and_only_fetched_again_if_it_is_wrong(
    hub, store, released, is_damaged
):
    cut(store, hub, released, len(toy.LARGE))
    (part,) = store.path(released).glob("*.partial")
    assert part.stat().st_size == len(toy.LARGE)
    if is_damaged:
        part.write_bytes(toy.LARGE[::-1])
    hub.requests.clear()
    folder = store.fetch(released, toy.ignore, toy.never)
    assert (folder / "weights+1.pt").read_bytes() == toy.LARGE
    assert len(hub.requests) == 1 + is_damaged


def test_a_file_that_did_not_reach_the_disk_does_not_get_its_name(store, monkeypatch):
    def full(handle: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(AssetError, match="No space left"):
        store.fetch(toy.ASSET, toy.ignore, toy.never)
    assert not (store.path(toy.ASSET) / "config.json").exists()


@pytest.mark.parametrize("make", [Path.symlink_to, Path.hardlink_to])
def test_a_planted_link_is_not_written_through(hub, store, released, tmp_path, make):
    cut(store, hub, released, 200_000)
    (partial,) = store.path(released).glob("*partial")
    partial.unlink()
    victim = tmp_path / "letter.txt"
    victim.write_text("Dear Ada,")
    make(partial, victim)
    make(partial.with_name("weights+1.pt.older.partial"), victim)
    folder = store.fetch(released, toy.ignore, toy.never)
    assert victim.read_text() == "Dear Ada,"
    assert (folder / "weights+1.pt").read_bytes() == toy.LARGE
    assert not (folder / "weights+1.pt").is_symlink()


def test_a_second_fetch_of_the_same_model_is_refused_while_the_first_runs(
    hub, store, released, tmp_path
):
    refused: list[str] = []

    def again(file: str, done: int, total: int) -> None:
        other = toy.store_at(tmp_path / "models", hub)
        with pytest.raises(AssetError, match="by another window or command") as caught:
            other.fetch(released, toy.ignore, toy.never)
        with pytest.raises(AssetError, match="by another window or command"):
            other.remove(released)
        refused.append(caught.value.hint)

    folder = store.fetch(released, again, toy.never)
    assert refused
    assert (folder / "weights+1.pt").read_bytes() == toy.LARGE


def test_an_absurd_size_is_refused_before_anything_is_written(hub, released, tmp_path):
    hub.claims = 10**12
    store = Store(tmp_path, endpoint=hub.endpoint, free_bytes=lambda folder: 10**15)
    with pytest.raises(AssetError, match=r"1,000,000\.0 MB where 10\.0 MB at most"):
        store.fetch(released, toy.ignore, toy.never)
    assert sum(path.stat().st_size for path in tmp_path.rglob("*") if path.is_file()) == 0


def test_a_file_other_than_the_pinned_one_is_refused_or_missing(store, hub, released):
    store.fetch(toy.ASSET, toy.ignore, toy.never)
    newer = toy.only(AssetFile("model.safetensors", 1, sha256="0" * 64))
    assert store.state(newer) is State.PARTIAL
    store.remove(toy.ASSET)
    with pytest.raises(AssetError, match=r"would send 0\.3 MB"):
        store.fetch(
            toy.only(AssetFile("model.safetensors", 1, size=299_999)), toy.ignore, toy.never
        )
    hub.releases["latest"]["weights+1.pt"] = toy.LARGE[::-1]
    with pytest.raises(AssetError, match="damaged"):
        store.fetch(released, toy.ignore, toy.never)
    assert list(store.path(released).glob("weights*")) == []


def test_a_busy_server_is_asked_again_unless_it_is_cancelled_or_asks_for_hours(
    hub, released, tmp_path
):
    waited: list[float] = []
    store = Store(tmp_path, endpoint=hub.endpoint, pause=waited.append)
    hub.busy, hub.retry_after = 1, "9999"
    with pytest.raises(AssetError, match=r"asks to come back in \d+ minutes"):
        store.fetch(released, toy.ignore, toy.never)
    assert waited == []
    hub.busy, hub.retry_after = 1, "50"
    with pytest.raises(Cancelled):
        store.fetch(released, toy.ignore, lambda: sum(waited) > 1)
    assert sum(waited) < 2
    waited.clear()
    hub.busy, hub.retry_after = 2, "3"
    folder = store.fetch(released, toy.ignore, toy.never)
    assert (folder / "weights+1.pt").read_bytes() == toy.LARGE
    assert sum(waited) == pytest.approx(6.0)
    hub.busy, hub.retry_after = 1_000, "1"
    store.remove(released)
    with pytest.raises(AssetError):
        store.fetch(released, toy.ignore, toy.never)
    assert 1_000 - hub.busy == TRIES
