"""Which phrases will do as a name, by the real models of the language, and how words sound."""

import pytest

from engine.asr.wake.phrase import USUAL, examine, normal
from engine.errors import InvalidInput


@pytest.mark.parametrize("phrase", ["hey rubato", "okay computer", "good evening zaphod", USUAL])
def test_a_name_that_is_seldom_said_will_do_and_its_words_have_sounds(phrase: str) -> None:
    assert normal(f"  {phrase.title()}, ") == phrase  # without case, marks and spare spaces
    found = examine(phrase)
    assert sorted(found) == sorted(phrase.split())
    assert all(found.values())


@pytest.mark.parametrize(
    ("phrase", "reason"),
    [
        ("hey", "too short"),
        ("jarvis", "too short"),
        ("computer", "too often"),
        ("good morning", "too often"),
        ("what time is it", "too often"),
        ("", "English words"),
        ("hey 5", "English words"),
        ("große nase", "English words"),
        ("one two three four five six seven", "too long"),
        ("antidisestablishmentarianism computer jarvis", "English words"),
    ],
)
def test_others_are_refused_with_the_reason_and_a_proposal_that_will_do(
    phrase: str, reason: str
) -> None:
    with pytest.raises(InvalidInput, match=reason) as refused:
        examine(phrase)
    proposed = refused.value.hint.partition("“")[2].partition("”")[0]
    assert examine(proposed)
