"""What was talked about outlasts a kill; it is found, read, heard again from a word on, deleted."""

import json
import os
import shutil
import signal
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from engine.history.store import NAME, Store
from tests.end_to_end.history_story import FIRST, WORD
from tests.end_to_end.program import ROOT, own_environment
from tests.end_to_end.window_story import LONG, QUESTION

pytestmark = [pytest.mark.device, pytest.mark.slow]
STORY_S = 250.0  # each part takes some seconds on a machine that has nothing else to do


@pytest.fixture
def pictures(tmp_path: Path) -> Path:
    chosen = os.environ.get("RUBATO_PICTURES")
    place = Path(chosen) if chosen else tmp_path / "pictures"
    place.mkdir(parents=True, exist_ok=True)
    return place


def play(part: str, folder: Path, pictures: Path) -> tuple[int, dict[str, Any]]:
    """Exit status and facts of one part."""
    if not shutil.which("xvfb-run") and not os.environ.get("CI"):
        pytest.skip("needs xvfb-run")
    story = [sys.executable, "-m", "tests.end_to_end.history_story", part, folder, pictures]
    done = subprocess.run(
        ["xvfb-run", "--auto-servernum", "--server-args=-screen 0 1400x1000x24", *map(str, story)],
        cwd=ROOT,
        env={**os.environ, **own_environment(folder), "QT_QPA_PLATFORM": "xcb"},
        capture_output=True,
        text=True,
        timeout=STORY_S,
        check=False,
    )
    told = folder / f"{part}.json"
    assert told.exists(), done.stderr[-4000:]
    facts: dict[str, Any] = json.loads(told.read_text())
    assert "stuck" not in facts, facts
    return done.returncode, facts


def test_talk_is_killed_found_heard_again_and_deleted(tmp_path, pictures):
    status, talked = play("talk", tmp_path, pictures)
    assert status == 128 + signal.SIGKILL
    kept = tmp_path / NAME
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    status, found = play("find", tmp_path, pictures)
    assert (status, found["status"]) == (0, 0)
    first, second = talked["replies"]
    for words in (FIRST, first, QUESTION, second, LONG[:20], "the program ended here"):
        assert words in found["shown"]
    assert list(dict.fromkeys(found["replayed"])) == second[second.index(WORD) :].split()
    assert found["deltas"] == 0
    assert found["left"] == 0
    with Store(kept) as store:
        assert store.listing() == ()
    assert all(QUESTION.encode() not in file.read_bytes() for file in tmp_path.glob(f"{NAME}*"))
    for name in ("found", "replayed", "asked"):
        assert (pictures / f"{name}.png").stat().st_size > 10_000
