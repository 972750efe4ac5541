"""Updates: what is offered is told, taken beside this version, and rolled back by the pointer."""

import os
import subprocess
import sys
import time
from pathlib import Path

import filelock
import pytest

from engine.errors import UpdateError
from engine.updates import State, Updates
from installer.bootstrap import pointer
from installer.bootstrap.places import opened
from installer.signing.repository import Repository
from tests.engine.updates.served import (
    OLD,
    SOON,
    Copy,
    Keys,
    Server,
    new_root,
    publish,
)

NEW = "env-0.2.0-cpu"
ASKS = """
import sys
from pathlib import Path
from engine.updates import Updates
from engine.updates.source import Installation, Source
home, folder, address = sys.argv[1:]
source = Source(sys.stdin.buffer.read(), address)
Updates(Path(folder), source, Installation(Path(home), "env-0.1.0-cpu"), "0.1.0").install()
"""


def test_without_a_root_nobody_is_asked(tmp_path: Path, server: Server):
    updates = Updates(tmp_path / "updates", None, None, "0.1.0")
    assert (updates.is_on, updates.look().state, updates.install().state) == (
        False,
        State.OFF,
        State.OFF,
    )
    assert server.asked == []
    assert not (tmp_path / "updates").exists()


def test_a_look_tells_what_changes_and_changes_nothing(copy: Copy, server: Server):
    look = copy.updates.look()
    assert look.state is State.OFFERED
    assert look.offer is not None
    assert (look.offer.version, look.offer.changes) == ("0.2.0", "- 0.2.0 is better.")
    assert look.can_install
    assert copy.starts_with == OLD
    assert not [path for path in server.asked if path.startswith("/targets/0.2.0")]


def test_the_version_that_runs_is_no_news(tmp_path: Path, copy: Copy):
    same = Updates(copy.folder, copy.source, None, "0.2.0")
    newer = Updates(copy.folder, copy.source, None, "0.10.0")
    assert same.look().state is newer.look().state is State.CURRENT


def test_an_update_is_made_beside_this_version_and_in_force_from_the_next_start(copy: Copy):
    shares: list[float] = []
    assert copy.updates.install(shares.append).state is State.OFFERED
    assert copy.starts_with == NEW
    assert copy.home.is_whole(OLD), "kept until the new one has started twice"
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
    assert not list((copy.folder / "fetched").iterdir())


def test_it_is_made_and_put_in_force_only_while_it_is_quiet(copy: Copy):
    seen: list[tuple[list[str], str]] = []
    copy.updates.install(
        await_quiet=lambda: seen.append((copy.home.environments(), pointer.read(copy.home).current))
    )
    assert seen == [([OLD], OLD), ([OLD, NEW], OLD)]
    assert copy.starts_with == NEW


def test_the_installation_ends_with_who_asked_for_it(copy: Copy, monkeypatch: pytest.MonkeyPatch):
    """Killed while the new version is tried: the bootstrapper sees the end of its input."""
    monkeypatch.setenv("STALL", str(copy.folder / "stalled"))
    asks = subprocess.Popen(
        [sys.executable, "-c", ASKS, str(copy.home.folder), str(copy.folder), copy.source.address],
        stdin=subprocess.PIPE,
        cwd=Path(__file__).parents[3],
    )
    assert asks.stdin is not None
    asks.stdin.write(copy.source.root)
    asks.stdin.close()
    stalled = copy.folder / "stalled"
    while not stalled.exists():
        assert asks.poll() is None
        time.sleep(0.05)
    asks.kill()
    asks.wait()
    with opened(copy.home):  # waits for the bootstrapper to end
        assert copy.home.environments() == [OLD]
    assert copy.starts_with == OLD
    monkeypatch.delenv("STALL")
    copy.updates.install()
    assert copy.starts_with == NEW


def test_what_did_not_change_is_not_fetched_again(copy: Copy, server: Server):
    copy.updates.install()
    assert not [path for path in server.asked if path.endswith(".uv")]
    assert [path for path in server.asked if path.endswith(".whl")]
    uv = copy.home.payloads / "0.2.0" / "uv"
    assert os.access(uv, os.X_OK)


def test_the_version_before_is_put_in_force_again(copy: Copy):
    copy.updates.install()
    copy.updates.roll_back()
    assert copy.starts_with == OLD
    with pytest.raises(UpdateError, match="no earlier version"):
        copy.updates.roll_back()


def test_a_copy_that_was_not_installed_is_not_changed(copy: Copy):
    checkout = Updates(copy.folder, copy.source, None, "0.1.0")
    assert not checkout.look().can_install
    with pytest.raises(UpdateError, match="cannot update itself"):
        checkout.install()
    with pytest.raises(UpdateError):
        checkout.roll_back()


def test_two_at_once_do_not_meet(copy: Copy):
    copy.updates.look()
    with filelock.FileLock(copy.folder / "lock"), pytest.raises(UpdateError, match="under way"):
        copy.updates.look()
    assert copy.updates.look().state is State.OFFERED


def test_a_week_after_a_look_the_next_is_due(copy: Copy):
    day_s = 86_400.0
    assert copy.updates.is_due(0.0)
    copy.updates.look()
    looked = copy.folder / "looked"
    os.utime(looked, (100 * day_s, 100 * day_s))
    due = [copy.updates.is_due(day * day_s) for day in (100.1, 106.9, 107.1, 99)]
    assert due == [False, False, True, True]


def test_keys_can_be_changed_by_two_of_the_old_and_two_of_the_new(
    copy: Copy, server: Server, keys: Keys, tmp_path: Path
):
    copy.updates.look()
    fresh = Keys()
    made = Repository(server.folder, SOON)
    new_root(made, fresh, [*keys.root[1:], *fresh.root[:2]])
    publish(made, fresh, "0.3.0")
    look = copy.updates.install()
    assert look.offer is not None
    assert look.offer.version == "0.3.0"
    assert copy.starts_with == "env-0.3.0-cpu"
