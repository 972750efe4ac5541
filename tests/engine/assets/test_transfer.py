"""Files on their way: cut off, of another version, linked elsewhere, too large, or kept waiting."""

from pathlib import Path

import pytest

from engine.assets.catalogue import Asset, AssetFile
from engine.assets.store import Progress, State, Store
from engine.errors import AssetError, Cancelled
from tests.engine.assets.hub import Hub
from tests.engine.assets.toy import (
    ASSET,
    LARGE,
    PINNED,
    RELEASE,
    RELEASED,
    ignore,
    never,
    only,
    parts,
    store_at,
)


def cut(store: Store, hub: Hub, asset: Asset, at: int) -> None:
    """Fetch until `at` bytes are there, as when the program is killed then."""
    hub.cut_at = at

    def kill(progress: Progress) -> None:
        if progress.done_bytes >= at:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        store.fetch(asset, kill, never)


@pytest.mark.parametrize("is_new", [False, True], ids=["the same", "a new commit"])
def test_a_killed_fetch_goes_on_where_it_was_or_begins_anew(store, hub, is_new):
    model = only(AssetFile("model.safetensors", 1))
    cut(store, hub, model, 200_000)
    hub.requests.clear()
    if is_new:
        hub.files["model.safetensors"] = LARGE[::-1]
    folder = store.fetch(model, ignore, never)
    assert (folder / "model.safetensors").read_bytes() == hub.files["model.safetensors"]
    assert parts(folder) == []
    if not is_new:
        (wanted,) = [request for request in hub.requests if request.startswith("GET")]
        assert int(wanted.split("bytes=")[1].rstrip("-")) >= 130_000


@pytest.mark.parametrize("file", [RELEASED, PINNED], ids=["unknown hash", "pinned hash"])
def test_the_begin_of_another_version_is_never_joined_to_this_one(hub, tmp_path, file):
    store, asset = store_at(tmp_path, hub), only(file, source=RELEASE)
    hub.releases = {"latest": {"weights+1.pt": LARGE[::-1]}}
    cut(store, hub, asset, 200_000)
    hub.releases = {"latest": {"weights+1.pt": LARGE}}
    folder = store.fetch(asset, ignore, never)
    assert (folder / "weights+1.pt").read_bytes() == LARGE
    assert parts(folder) == []


@pytest.mark.parametrize("make", [Path.symlink_to, Path.hardlink_to])
def test_a_planted_link_is_not_written_through(hub, tmp_path, make):
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


def test_a_second_fetch_of_the_same_model_is_refused_while_the_first_runs(hub, tmp_path):
    hub.releases = {"latest": {"weights+1.pt": LARGE}}
    asset = only(RELEASED, source=RELEASE)
    refused: list[str] = []

    def again(progress: Progress) -> None:
        other = store_at(tmp_path, hub)
        with pytest.raises(AssetError, match="by another window or command") as caught:
            other.fetch(asset, ignore, never)
        with pytest.raises(AssetError, match="by another window or command"):
            other.remove(asset)
        refused.append(caught.value.hint)

    folder = store_at(tmp_path, hub).fetch(asset, again, never)
    assert refused
    assert (folder / "weights+1.pt").read_bytes() == LARGE


def test_an_absurd_size_is_refused_before_anything_is_written(hub, tmp_path):
    hub.releases, hub.claims = {"latest": {"weights+1.pt": LARGE}}, 10**12
    store = Store(tmp_path, endpoint=hub.endpoint, free_bytes=lambda folder: 10**15)
    with pytest.raises(AssetError, match=r"1,000,000\.0 MB where 10\.0 MB at most"):
        store.fetch(only(RELEASED, source=RELEASE), ignore, never)
    assert sum(path.stat().st_size for path in tmp_path.rglob("*") if path.is_file()) == 0


def test_a_file_of_another_size_or_hash_than_the_pinned_one_is_refused_or_counts_as_missing(
    store, hub, tmp_path
):
    store.fetch(ASSET, ignore, never)
    newer = only(AssetFile("model.safetensors", 1, sha256="0" * 64))
    assert store.state(newer) is State.PARTIAL
    store.remove(ASSET)
    with pytest.raises(AssetError, match=r"another model\.safetensors than the one"):
        store.fetch(only(AssetFile("model.safetensors", 1, size=299_999)), ignore, never)
    hub.releases = {"latest": {"weights+1.pt": LARGE[::-1]}}
    store, asset = store_at(tmp_path / "other", hub), only(PINNED, source=RELEASE)
    with pytest.raises(AssetError, match="damaged"):
        store.fetch(asset, ignore, never)
    assert list(store.path(asset).iterdir()) == []


def test_a_busy_server_is_asked_again_unless_it_is_cancelled_or_asks_for_hours(hub, tmp_path):
    waited: list[float] = []
    asset = only(RELEASED, source=RELEASE)
    store = Store(tmp_path, endpoint=hub.endpoint, pause=waited.append)
    hub.releases = {"latest": {"weights+1.pt": LARGE}}
    for asked in ("9999", "Fri, 31 Dec 2999 23:59:59 GMT"):
        hub.busy, hub.retry_after = 1, asked
        with pytest.raises(AssetError, match=r"asks to come back in \d+ minutes"):
            store.fetch(asset, ignore, never)
    assert waited == []
    hub.busy, hub.retry_after = 1, "50"
    with pytest.raises(Cancelled):
        store.fetch(asset, ignore, lambda: sum(waited) > 1)
    assert sum(waited) < 2
    waited.clear()
    hub.busy, hub.retry_after = 2, "3"
    folder = store.fetch(asset, ignore, never)
    assert (folder / "weights+1.pt").read_bytes() == LARGE
    assert sum(waited) == pytest.approx(6.0)
