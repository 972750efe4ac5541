"""Fetching from a loopback server that speaks the hub's protocol."""

import errno
import hashlib
import json
import socket

import pytest

from engine.assets.catalogue import AssetFile
from engine.assets.store import PINS, Progress, State, Store
from engine.errors import AssetError, Cancelled
from tests.engine.assets.hub import COMMIT
from tests.engine.assets.toy import ASSET, LARGE, SMALL, ignore, never, only


def test_a_fetched_model_is_complete_verified_and_pinned(store, hub):
    assert store.state(ASSET) is State.MISSING
    folder = store.fetch(ASSET, ignore, never)
    assert (folder / "config.json").read_bytes() == SMALL
    assert (folder / "model.safetensors").read_bytes() == LARGE
    assert store.state(ASSET) is State.COMPLETE
    assert [verdict.fault for verdict in store.verify(ASSET, ignore, never)] == ["", ""]
    pin = json.loads((folder / PINS).read_text())["model.safetensors"]
    assert pin == {
        "sha256": hashlib.sha256(LARGE).hexdigest(),
        "size": len(LARGE),
        "revision": COMMIT,
    }


def test_a_connection_cut_in_the_middle_is_resumed_there(store, hub):
    hub.cut_at = 120_000
    folder = store.fetch(only(AssetFile("model.safetensors", 1)), ignore, never)
    assert (folder / "model.safetensors").read_bytes() == LARGE
    ranges = [request.split(" ")[2] for request in hub.requests if request.startswith("GET")]
    assert any(wanted not in ("", "bytes=0-") for wanted in ranges)


def test_a_wrong_hash_is_refused_and_nothing_is_left_under_the_final_name(store, hub):
    hub.lies = True
    with pytest.raises(AssetError, match="damaged"):
        store.fetch(ASSET, ignore, never)
    assert not (store.path(ASSET) / "config.json").exists()
    assert store.state(ASSET) is State.PARTIAL


def test_a_full_disk_is_noticed_before_the_download(hub, tmp_path):
    store = Store(tmp_path, endpoint=hub.endpoint, free_bytes=lambda folder: 100_000)
    with pytest.raises(AssetError, match="not enough space") as refused:
        store.fetch(ASSET, ignore, never)
    assert "RUBATO_DATA" in refused.value.hint
    assert not any(request.startswith("GET") for request in hub.requests)


def test_a_download_that_was_cancelled_or_filled_the_disk_goes_on_with_the_next_try(store, hub):
    def full(progress: Progress) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(Cancelled):
        store.fetch(ASSET, ignore, lambda: True)
    assert store.state(ASSET) is State.PARTIAL
    with pytest.raises(AssetError, match="No space left"):
        store.fetch(ASSET, full, never)
    store.fetch(ASSET, ignore, never)
    assert store.state(ASSET) is State.COMPLETE
    hub.requests.clear()
    store.fetch(ASSET, ignore, never)
    assert hub.requests == []  # it is complete


def test_a_refusing_server_is_named_and_without_a_network_it_is_said_what_to_do(
    store, hub, tmp_path
):
    for status, sentence in ((404, "has no file"), (401, "answered|no file"), (500, "answered")):
        hub.status = status
        with pytest.raises(AssetError, match=sentence):
            store.fetch(ASSET, ignore, never)
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        store = Store(tmp_path, endpoint=f"http://127.0.0.1:{unused.getsockname()[1]}")
        with pytest.raises(AssetError, match="could not be reached") as failed:
            store.fetch(ASSET, ignore, never)
    assert "goes on where it stopped" in failed.value.hint


def test_a_changed_file_is_found_by_verify_and_removing_frees_the_space(store):
    folder = store.fetch(ASSET, ignore, never)
    (folder / "model.safetensors").write_bytes(bytes(len(LARGE)))
    (folder / "config.json").unlink()
    faults = [verdict.fault for verdict in store.verify(ASSET, ignore, never)]
    assert faults == ["is missing", "has changed since it was fetched"]
    assert store.state(ASSET) is State.PARTIAL
    assert store.remove(ASSET) >= len(LARGE)
    assert store.state(ASSET) is State.MISSING
    assert store.remove(ASSET) == 0
