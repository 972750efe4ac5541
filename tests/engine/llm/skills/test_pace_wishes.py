"""What is a wish about the pace, and what only begins like one."""

import pytest

from engine.llm.base import ChangeRate
from engine.llm.skills.control.pace import BIT, FASTEST, LOT, STEP
from engine.llm.skills.pace_wishes import may_become_pace_wish, pace_wish

WISHES = [
    ("slower please", ChangeRate(by=-STEP)),
    ("Could you speak a bit slower, please?", ChangeRate(by=-BIT)),
    ("slow down", ChangeRate(by=-STEP)),
    ("faster", ChangeRate(by=STEP)),
    ("much faster", ChangeRate(by=LOT)),
    ("normal speed", ChangeRate()),
    ("as fast as you can", ChangeRate(to=FASTEST)),
    ("five syllables per second", ChangeRate(to=5.0)),
]


@pytest.mark.parametrize(("said", "wish"), WISHES)
def test_a_wish_is_understood_and_so_are_its_beginnings(said, wish):
    assert pace_wish(said) == wish
    words = said.split()
    about = [may_become_pace_wish(" ".join(words[: n + 1])) for n in range(len(words))]
    assert about[-1]
    assert about == sorted(about)
    # the last word may be half said
    assert may_become_pace_wish(f"{said} pl")
    assert not may_become_pace_wish(f"{said} pl and so on")


@pytest.mark.parametrize(
    "said",
    ["", "stop", "what time is it", "slower and tell me the time", "louder", "read notes.txt",
     "how fast is light", "nine hundred syllables per second", "slower " * 40],
)  # fmt: skip
def test_everything_else_is_none(said):
    assert pace_wish(said) is None


@pytest.mark.parametrize("said", ["", "please", "what is the speed of light", "slower and louder"])
def test_what_cannot_become_a_wish_is_known_at_once(said):
    assert not may_become_pace_wish(said)
