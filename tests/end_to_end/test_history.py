"""What was talked about outlasts a kill, is found, heard again and deleted; timers count on."""

import json
import signal
import stat
from pathlib import Path
from typing import Any

import pytest

from engine.history.store import NAME, Store
from tests.end_to_end.history_story import FIRST, WORD
from tests.end_to_end.program import play
from tests.end_to_end.window_story import LONG, QUESTION

pytestmark = [pytest.mark.device, pytest.mark.slow]
PASSED_S = 66.0  # after the kill, as the timers see it: one of 60 s has ended


def played(part: str, folder: Path) -> tuple[int, dict[str, Any]]:
    done = play("tests.end_to_end.history_story", part, folder)
    told = folder / f"{part}.json"
    assert told.exists(), done.stderr[-4000:]
    facts: dict[str, Any] = json.loads(told.read_text())
    assert "stuck" not in facts, facts
    return done.returncode, facts


def test_talk_is_killed_found_heard_again_and_deleted(tmp_path):
    status, talked = played("talk", tmp_path)
    assert status == 128 + signal.SIGKILL
    kept = tmp_path / NAME
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    timers = json.loads((tmp_path / "timers.json").read_text())["timers"]
    for timer in timers:  # as if so long had passed since
        timer["due"] -= PASSED_S
    (tmp_path / "timers.json").write_text(json.dumps({"timers": timers}))
    due = {timer["label"]: timer["due"] for timer in timers}
    status, found = played("find", tmp_path)
    assert (status, found["status"]) == (0, 0)
    first, second, *_ = talked["replies"]
    for words in (FIRST, first, QUESTION, second, LONG[:20], "the program ended here"):
        assert words in found["shown"]
    assert list(dict.fromkeys(found["replayed"])) == second[second.index(WORD) :].split()
    assert found["deltas"] == 0
    assert found["left"] == 0
    (rang,) = found["rang"]
    assert rang.startswith("Your egg timer is done. It was due at ")
    assert rang.endswith(" ago.")
    ((label, shown, shown_at),) = found["cards"]
    assert label == "tea"
    minutes, seconds = map(int, shown.split(":"))
    left_s = 600 - PASSED_S - (shown_at - talked["tea_set_at"])
    assert 60 * minutes + seconds == pytest.approx(left_s, abs=3.0)
    timers = json.loads((tmp_path / "timers.json").read_text())["timers"]
    left = {timer["label"]: timer["due"] for timer in timers}
    assert left["tea"] == due["tea"]
    assert len(left) == 2  # what rang and was not dismissed
    with Store(kept) as store:
        assert store.listing() == ()
    assert all(QUESTION.encode() not in file.read_bytes() for file in tmp_path.glob(f"{NAME}*"))
