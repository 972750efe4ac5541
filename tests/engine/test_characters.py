import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.characters import WholeCharacters, whole

HIGH, LOW = "\ud83c", "\udf89"
HALVES = st.lists(st.sampled_from([HIGH, LOW, "a", "é", "\U0001f389", ""]), max_size=8)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (HIGH + LOW, "\U0001f389"),
        (f"a{HIGH}", "a\ufffd"),
        (f"{LOW}a", "\ufffda"),
        (HIGH + HIGH + LOW, "\ufffd\U0001f389"),
        ("Zürich \U0001f389", "Zürich \U0001f389"),
    ],
)
def test_halves_are_joined_and_a_lone_one_is_replaced(text, expected):
    assert whole(text) == expected


@given(HALVES)
def test_cutting_the_text_elsewhere_changes_nothing(deltas):
    characters = WholeCharacters()
    pushed = "".join(map(characters.push, deltas)) + characters.end()
    assert pushed == whole("".join(deltas))
    pushed.encode()


def test_only_half_a_character_waits():
    assert WholeCharacters().push(f"Great {HIGH}") == "Great "
