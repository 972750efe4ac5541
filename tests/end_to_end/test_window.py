"""The real window on a virtual display and sound card: what a person sees, hears and pulls.

One story is played in a process of its own (window_story.py says why); each test asks for a fact.
"""

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from engine.api import Part
from tests.end_to_end import spoken
from tests.end_to_end.ear import Ear, as_spoken, between, recording, stretches, syllables_per_second
from tests.end_to_end.program import play
from tests.end_to_end.window_story import FAST_S, LONG, QUESTION, SLOW_SPS
from tests.help.machine.needed import need
from tests.help.machine.virtual_audio import missing_programs

pytestmark = [pytest.mark.device, pytest.mark.slow]

ANSWER = "10 miles is about 16.09 kilometres."
OTHERS = ("10 miles is about 60.9 kilometres.", "Timer set for 10 minutes.", "Speaking slower.")
SETTLED_S = 1.5  # a new rate is heard from the next word on, after the lead


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    """Where the story leaves its traces; a short name, for the sound server's sockets."""
    with tempfile.TemporaryDirectory(prefix="story") as name:
        yield Path(name)


@pytest.fixture(scope="module")
def facts(folder: Path) -> dict[str, Any]:
    need([*missing_programs(), *spoken.missing_programs()])
    done = play("tests.end_to_end.window_story", folder)
    assert done.returncode == 0, done.stderr[-4000:]
    told: dict[str, Any] = json.loads((folder / "facts.json").read_text())
    assert "stuck" not in told, told
    return {**told, "stderr": done.stderr}


def test_the_first_frame_is_there_before_anything_is_loaded(facts):
    assert facts["first_frame_s"] < 5.0  # 0.2 to 0.3 s measured; a loaded machine is slower
    assert facts["failed"] == []
    assert set(facts["ready"]) == {part.value for part in Part}


def test_a_question_asked_aloud_is_shown_and_answered_so_that_one_can_understand(facts, folder):
    lines = facts["shown"].replace("metres", "meters").split("\n")
    assert QUESTION in lines
    assert ANSWER.replace("metres", "meters") in lines
    assert facts["turn"]["heard"] == facts["turn"]["reply"] == ANSWER
    assert facts["turn"]["metrics"]["underruns"] == 0
    pcm, rate = recording(folder / "answer.wav")
    (said,) = stretches(pcm, rate)
    ear = Ear(map(as_spoken, (ANSWER, *OTHERS)))
    assert ear.hear(between(pcm, rate, *said), rate) == as_spoken(facts["turn"]["reply"])


def test_the_slider_pulled_by_keys_changes_the_reply_being_spoken(facts, folder):
    pulled_s, end_s = facts["pulled_s"], facts["pulled_s"] + FAST_S
    slow = words_per_second(facts["words"], 0.0, pulled_s)
    fast = words_per_second(facts["words"], pulled_s + SETTLED_S, end_s)
    assert facts["target"] == SLOW_SPS + 3
    assert facts["readout"].startswith(f"target {facts['target']} · measured ")
    assert slow == pytest.approx(SLOW_SPS, rel=0.25)
    assert fast == pytest.approx(facts["target"], rel=0.25)
    pcm, rate = recording(folder / "rates.wav")
    start_s = stretches(pcm, rate)[0][0]  # the first word, to within the device's latency
    slow_part = between(pcm, rate, start_s + 0.3, start_s + pulled_s - 0.3)
    fast_part = between(pcm, rate, start_s + pulled_s + SETTLED_S, start_s + end_s - 0.3)
    assert syllables_per_second(slow_part, rate) == pytest.approx(SLOW_SPS, rel=0.2)
    assert syllables_per_second(fast_part, rate) == pytest.approx(facts["target"], rel=0.2)


def words_per_second(words: list[tuple[float, int]], start_s: float, end_s: float) -> float:
    """Syllables per second by the moments at which words began to be heard."""
    part = [(at, syllables) for at, syllables in words if start_s <= at <= end_s]
    return sum(syllables for _, syllables in part[:-1]) / (part[-1][0] - part[0][0])


def test_escape_stops_the_reply_and_the_words_heard_are_kept(facts):
    stopped = facts["stopped"]
    assert stopped["ending"] == "Ending.INTERRUPTED_BY_ESCAPE"
    assert stopped["reply"] == LONG.strip()
    assert stopped["reply"].startswith(stopped["heard"])
    heard = len(stopped["heard"].split())
    assert 10 < heard < len(LONG.split())
    assert heard - len(facts["words"]) in (0, 1)  # one may begin just when the key is pressed


def test_a_dropped_recording_is_inspected_and_the_voice_area_says_what_it_is_like(facts):
    assert facts["drop_accepted"]
    title, found, advice = facts["clip_shown"]
    assert title == "answer.wav"
    assert found.startswith(f"{facts['clip']['seconds']:.1f} s · level -")
    assert "cannot" in advice


def test_the_window_closed_mid_reply_goes_at_once_and_leaves_nothing_running(facts):
    assert facts["phase_when_closed"] == "SPEAKING"
    assert facts["hidden_at_once"]
    assert facts["status"] == 0
    assert (facts["last_event"], facts["stopped_events"]) == ("Stopped", 1)
    assert facts["turns"][-1]["ending"] == "Ending.INTERRUPTED_BY_STOP"
    assert facts["threads"] == ["MainThread"]
    assert facts["closing_s"] < 10.0
    assert "leaked" not in facts["stderr"]  # nanobind tells, and soxr is made with it
