"""Where a sentence ends."""

import pytest

from engine.text.rules.marks import ends_sentence


@pytest.mark.parametrize(
    "text", ["over.", "Really?", 'he said."', "(so it is!)", "**no**.", "好。", "well…"]
)
def test_a_sentence_ends_also_inside_brackets_and_quotes(text: str) -> None:
    assert ends_sentence(text)


@pytest.mark.parametrize("text", ["", "and", "so,", "(or", '"', "first:"])
def test_a_sentence_does_not_end_with_less(text: str) -> None:
    assert not ends_sentence(text)
