"""Whatever a server sends, and whenever the update is cut off, the next start finds a program.

After each attack the same copy takes an honest update.
"""

import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from engine.errors import UpdateError
from engine.updates import State, updates
from installer.signing.repository import Repository
from tests.engine.updates.served import (
    LONG_AGO,
    OLD,
    SOON,
    Copy,
    Keys,
    Server,
    endless,
    new_root,
    publish,
    repository,
    send,
)

ROOT = Path(__file__).parents[3]
pytestmark = pytest.mark.slow
NEWEST = "env-0.4.0-cpu"


@pytest.fixture(autouse=True)
def afterwards(copy: Copy, server: Server, keys: Keys) -> Iterator[None]:
    """The program that was there starts, and an honest server updates it."""
    yield
    assert copy.starts_with == OLD
    server.instead.clear()
    publish(Repository(server.folder, SOON), keys, "0.4.0")
    assert copy.updates.install().state is State.OFFERED
    assert copy.starts_with == NEWEST


def refused(copy: Copy, match: str) -> None:
    with pytest.raises(UpdateError, match=match) as caught:
        copy.updates.install()
    assert "changed" in caught.value.hint or "Nothing" in str(caught.value)


def served(server: Server, name: str) -> Path:
    return server.folder / "metadata" / name


def test_an_older_release_is_not_served_again(copy: Copy, server: Server, keys: Keys):
    before = served(server, "timestamp.json").read_bytes()
    publish(Repository(server.folder, SOON), keys, "0.3.0")
    copy.updates.look()
    server.instead["timestamp.json"] = lambda handler: send(handler, before)
    refused(copy, "not signed")


def test_an_older_snapshot_under_a_newer_timestamp_is_refused(
    copy: Copy, server: Server, keys: Keys
):
    copy.updates.look()
    old = served(server, "1.snapshot.json").read_bytes()
    publish(Repository(server.folder, SOON), keys, "0.3.0")
    server.instead["2.snapshot.json"] = lambda handler: send(handler, old)
    refused(copy, "not signed")


def test_targets_of_another_release_than_the_snapshot_names_are_refused(
    copy: Copy, server: Server, keys: Keys
):
    old = served(server, "1.targets.json").read_bytes()
    publish(Repository(server.folder, SOON), keys, "0.3.0")
    server.instead["2.targets.json"] = lambda handler: send(handler, old)
    refused(copy, "not signed")


def test_an_expired_offer_is_refused(copy: Copy, server: Server, keys: Keys):
    Repository(server.folder, LONG_AGO).renew(keys.online)
    refused(copy, "older than it may be")


def test_another_s_keys_are_refused(copy: Copy, server: Server, tmp_path: Path):
    theirs = Keys()
    publish(repository(tmp_path / "theirs", theirs), theirs, "0.9.0")
    server.folder, honest = tmp_path / "theirs", server.folder
    refused(copy, "not signed")
    server.folder = honest


def test_a_new_root_that_one_old_key_signed_is_refused(copy: Copy, server: Server, keys: Keys):
    theirs = Keys()
    new_root(Repository(server.folder, SOON), theirs, [keys.root[0], *theirs.root[:2]])
    refused(copy, "not signed")
    served(server, "2.root.json").unlink()


def test_the_online_key_alone_signs_no_release(copy: Copy, server: Server, keys: Keys):
    honest = served(server, "1.targets.json").read_bytes()
    thief = Keys()
    thief.targets, thief.online = keys.online, keys.online
    publish(Repository(server.folder, SOON), thief, "0.9.0")
    refused(copy, "not signed")
    served(server, "2.targets.json").write_bytes(honest)


@pytest.mark.parametrize("name", [".whl", "payload.json", "__main__.py", "release.json"])
def test_a_file_that_is_cut_short_is_not_taken(copy: Copy, server: Server, name: str):
    def cut(handler: Any) -> None:
        content = (server.folder / handler.path.lstrip("/")).read_bytes()
        send(handler, content[: len(content) // 2])

    shutil.rmtree(copy.home.payloads)  # so that all is fetched
    server.instead[name] = cut
    refused(copy, "signed|reached")


@pytest.mark.parametrize("name", [".whl", "uv", "timestamp.json", "2.root.json", ".snapshot.json"])
def test_a_connection_that_is_cut_is_told(copy: Copy, server: Server, name: str):
    shutil.rmtree(copy.home.payloads)  # so that all is fetched
    server.instead[name] = lambda handler: send(handler, b"{", claimed=100)
    refused(copy, "signed|reached")


@pytest.mark.parametrize("name", [".whl", "timestamp.json", "2.root.json", "1.snapshot.json"])
def test_data_without_end_is_given_up(copy: Copy, server: Server, name: str):
    server.instead[name] = endless
    refused(copy, "signed|reached")
    assert sum(f.stat().st_size for f in copy.folder.rglob("*") if f.is_file()) < 2_000_000


@pytest.mark.parametrize("place", ["fetching", "making"])
def test_a_full_disk_is_told(copy: Copy, place: str, monkeypatch: pytest.MonkeyPatch):
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        if place == "fetching":
            patch.setattr("tuf.ngclient.updater.shutil.copyfileobj", full)
        else:
            patch.setenv("BREAK", "1")
        refused(copy, "disk is full")


def test_a_new_version_that_does_not_work_is_not_put_in_force(
    copy: Copy, monkeypatch: pytest.MonkeyPatch
):
    with monkeypatch.context() as patch:
        patch.setattr(updates.sys, "executable", "/bin/false")
        refused(copy, "Nothing was changed")


# An installation in a process of its own, which is gone without a word after so many steps of the
# fetching, or (no such step) where the bootstrapper would be run.
KILLED = """
import os, signal, sys
from pathlib import Path
from engine.updates import Updates
from engine.updates.source import Installation, Source
home, folder, address, name, left = *sys.argv[1:5], int(sys.argv[5])

def gone(*_):
    os.kill(os.getpid(), signal.SIGKILL)

def show(share):
    global left
    left -= 1
    if left < 0:
        gone()

source = Source(sys.stdin.buffer.read(), address)
updates = Updates(Path(folder), source, Installation(Path(home), name), "0.1.0")
updates.run = gone  # SIGKILL where the bootstrapper would be started
updates.install(show)
"""


def killed(copy: Copy, step: int) -> int:
    """What became of it."""
    words = [str(copy.home.folder), str(copy.folder), copy.source.address, OLD, str(step)]
    done = subprocess.run(
        [sys.executable, "-c", KILLED, *words], input=copy.source.root, cwd=ROOT, check=False
    )
    return done.returncode


def steps_of(copy: Copy) -> int:
    look = copy.updates.look()
    assert look.offer is not None
    return len(look.offer.files)


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no such signal there")
@pytest.mark.parametrize("share", [0.0, 0.3, 0.8, 0.99])
def test_killed_while_it_fetches_the_next_one_goes_on(copy: Copy, server: Server, share: float):
    step = int(steps_of(copy) * share)
    assert killed(copy, step) == -signal.SIGKILL
    assert copy.starts_with == OLD
    server.asked.clear()
    look = copy.updates.look()
    assert look.offer is not None
    fetched = list((copy.folder / "fetched" / "0.2.0").rglob("*"))
    assert len([path for path in fetched if path.is_file()]) == step + 1


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no such signal there")
def test_killed_before_the_bootstrapper_runs_the_old_version_starts(copy: Copy):
    assert killed(copy, 1000) == -signal.SIGKILL
