"""engine/text/language_choice.py: the language of a text from its first words."""

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.languages import ENGLISH, SPOKEN
from engine.text.language_choice import LanguageChoice, language_of


def replies(name: str) -> list[tuple[str, ...]]:
    """40 replies in each language, beginning with the code."""
    lines = Path(__file__).with_name(name).read_text("utf-8").splitlines()
    return [tuple(line.split("\t")) for line in lines]


REPLIES, UNSEEN = replies("replies.tsv"), replies("replies_second.tsv")


@pytest.mark.parametrize(
    ("some", "words", "share"),
    [(REPLIES, 99, 1.0), (REPLIES, 3, 0.95), (UNSEEN, 99, 0.995), (UNSEEN, 3, 0.95)],
)
def test_a_reply_in_the_language_of_its_question_is_recognised(some, words, share) -> None:
    """Three words are enough for most; nothing was chosen on the unseen ones."""
    beginnings = [(code, " ".join(text.split()[:words])) for code, text in some]
    right = [language_of(text, code, tuple(SPOKEN)) == code for code, text in beginnings]
    assert sum(right) >= share * len(right)


@pytest.mark.parametrize("usual", SPOKEN)
def test_most_replies_in_another_language_than_their_question_are_recognised(usual: str) -> None:
    others = [(code, text) for code, text in REPLIES if code != usual]
    wrong = [text for code, text in others if language_of(text, usual, tuple(SPOKEN)) != code]
    assert len(wrong) <= 0.1 * len(others), wrong


@given(st.text(max_size=80), st.sampled_from(sorted(SPOKEN)), st.integers(1, 7))
def test_cutting_into_deltas_makes_no_difference(text: str, usual: str, size: int) -> None:
    pieces, entire = (LanguageChoice(usual, tuple(SPOKEN)) for _ in range(2))
    for start in range(0, len(text), size):
        pieces.push(text[start : start + size])
    entire.push(text)
    assert pieces.end() == entire.end()


def test_most_replies_are_known_when_a_voice_needs_them() -> None:
    """English ones no later than before there were other languages."""
    needed = dict.fromkeys(SPOKEN, 0)
    for code, text in REPLIES:
        choice, words = LanguageChoice(code, tuple(SPOKEN)), text.split()
        needed[code] += next(
            (n for n, word in enumerate(words, 1) if choice.push(word + " ")), len(words)
        )
        assert choice.end() == code
    assert needed[ENGLISH] <= 2.2 * 40
    assert max(needed.values()) <= 3 * 40


def test_one_possible_language_needs_no_words_and_an_unspoken_one_is_never_chosen() -> None:
    assert LanguageChoice("it", ("it",)).code == "it"
    assert LanguageChoice(ENGLISH, ()).code == ENGLISH
    assert language_of("Das ist ein kleines Haus am See.", ENGLISH, ("de", "es")) in ("en", "es")


def test_ordinary_english_does_not_load_the_classifier() -> None:
    program = (
        "import sys\n"
        "from engine.text.language_choice import language_of\n"
        "assert language_of('Sure, the capital is Canberra.', 'en', ('es', 'fr')) == 'en'\n"
        "assert 'py3langid' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
