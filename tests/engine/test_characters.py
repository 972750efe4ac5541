"""Text in halves of characters is made whole, wherever it was cut."""

from hypothesis import given
from hypothesis import strategies as st

from engine.characters import WholeCharacters, whole

HIGH, LOW = "\ud83c", "\udf89"
HALVES = st.lists(st.sampled_from([HIGH, LOW, "a", "é", "\U0001f389", ""]), max_size=8)


def test_halves_are_joined_a_lone_one_is_replaced_and_only_half_a_character_waits():
    assert whole(f"Zürich {HIGH}{LOW}") == "Zürich \U0001f389"
    assert whole(f"{LOW}a{HIGH}{HIGH}{LOW}{HIGH}") == "\ufffda\ufffd\U0001f389\ufffd"
    assert WholeCharacters().push(f"Great {HIGH}") == "Great "


@given(HALVES)
def test_cutting_the_text_elsewhere_changes_nothing(deltas):
    characters = WholeCharacters()
    pushed = "".join(map(characters.push, deltas)) + characters.end()
    assert pushed == whole("".join(deltas))
    pushed.encode()
