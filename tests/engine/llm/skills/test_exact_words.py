"""The grammar of requests to say given words, on a table."""

from pathlib import Path

import pytest

from engine.llm.skills.repeating import exact_words
from tests.engine.llm.skills.asking import asked

TABLE = Path(__file__).with_suffix("").with_name("exact_words.txt")


def rows() -> list[tuple[str, str]]:
    lines = TABLE.read_text(encoding="utf-8").splitlines()
    pairs = (line.split(" =>") for line in lines if line and not line.startswith("#"))
    return [(said.replace("\\n", "\n"), words.strip()) for said, words in pairs]


@pytest.mark.parametrize(("said", "words"), rows())
def test_given_words_are_found_and_nothing_else_is_taken_for_them(said, words):
    found = exact_words(said)
    assert (found.text.strip(" .?") if found else "") == words.strip(" .?")


@pytest.mark.parametrize(
    "words",
    [
        "the cat sat in the hat",
        "into the wild, with or without you",
        "That is it, but like this.",
        "Um, like, you know, 3.5 + 4!",
        '"Hello," she said, "come in."',
        "say it again",
        "thanks",
    ],
)
@pytest.mark.parametrize("request_", ["repeat after me:", "Say this:", "please read this aloud:"])
def test_words_behind_a_mark_come_back_as_they_are(request_, words):
    assert asked(f"{request_} {words}").text.strip('"') == words.strip('"')


@pytest.mark.parametrize("mark", ['"', "(", " ", ",", "say ", "say: ", "please "])
def test_a_long_text_takes_no_longer_than_its_length(mark):
    found = exact_words(f"say {mark * 20_000}hello")
    assert found is None or found.text.endswith("hello")
