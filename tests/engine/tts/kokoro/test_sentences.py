"""Where sentences end: the same whenever the words came, and never too long."""

from collections.abc import Sequence

from hypothesis import example, given, settings
from hypothesis import strategies as st

from engine.text.phonemes import PhonedWord
from engine.tts.kokoro.sentences import next_words
from engine.tts.kokoro.symbols import LONGEST

Planned = list[tuple[tuple[PhonedWord, ...], bool]]

WORDS = st.builds(
    PhonedWord,
    st.lists(st.sampled_from(["b", "ˈæ", "k", "ə", "z"]), max_size=12).map(tuple),
    st.sampled_from(["", "", "", "", ",", ".", "?"]),
)
UTTERANCES = st.lists(WORDS, max_size=60)


def plans(words: Sequence[PhonedWord], groups: Sequence[int]) -> Planned:
    """Every plan as a session asks for them, while so many words at a time become known."""
    made: Planned = []
    known: list[PhonedWord] = []
    waiting, sizes = list(words), list(groups)
    first = planned = 0
    while True:
        ended = not waiting
        more = next_words(known[first:], planned, all_known=ended)
        if more is not None:
            made.append(more)
            first, planned = (first + len(more[0]), 0) if more[1] else (first, len(more[0]))
        elif ended:
            return made
        else:
            count = sizes.pop(0) if sizes else len(waiting)
            known, waiting = known + waiting[:count], waiting[count:]


@given(UTTERANCES, st.lists(st.integers(1, 4), max_size=40))
@example([PhonedWord(("b",))] * 3, [2, 1])
def test_plans_do_not_depend_on_when_words_came(words: list[PhonedWord], groups: list[int]) -> None:
    assert plans(words, groups) == plans(words, [])


def closed(made: Planned) -> list[tuple[PhonedWord, ...]]:
    return [words for words, whole in made if whole]


def length(words: Sequence[PhonedWord]) -> int:
    return sum(1 + sum(map(len, word.phones)) for word in words)


@given(UTTERANCES)
@example([PhonedWord(tuple("jɛs"))])
@example([PhonedWord((), "."), PhonedWord((), "?")])
def test_sentences_are_all_words_that_sound_in_order(words: list[PhonedWord]) -> None:
    said = [word.phones for sentence in closed(plans(words, [])) for word in sentence]
    last = max((n for n, word in enumerate(words) if word.phones), default=-1)
    assert said[: last + 1] == [word.phones for word in words[: last + 1]]
    assert bool(said) == (last >= 0)


@given(UTTERANCES)
def test_a_plan_continues_the_one_before(words: list[PhonedWord]) -> None:
    before: tuple[PhonedWord, ...] = ()
    for known, whole in plans(words, []):
        assert len(known) > len(before) or (whole and len(known) == len(before))
        assert [word.phones for word in known[: len(before)]] == [word.phones for word in before]
        before = () if whole else known


@settings(max_examples=25)
@given(st.lists(WORDS, min_size=40, max_size=200))
def test_no_sentence_is_longer_than_the_longest_and_a_word(words: list[PhonedWord]) -> None:
    for sentence in closed(plans(words, [])):
        assert length(sentence[:-1]) <= LONGEST


def test_a_long_sentence_ends_at_a_late_comma_or_at_a_word() -> None:
    word = PhonedWord(tuple("kæts"))  # five symbols with the gap
    long = [word] * 200
    (first, *_) = closed(plans(long, []))
    assert length(first) > LONGEST
    assert first[-1].mark == ","
    with_comma = [word] * 60 + [PhonedWord(word.phones, ",")] + long
    assert len(closed(plans(with_comma, []))[0]) == 61
    early = [word] * 20 + [PhonedWord(word.phones, ",")] + long
    assert len(closed(plans(early, []))[0]) == len(first)


def test_the_first_plan_knows_two_words_with_a_sound() -> None:
    word, silent = PhonedWord(tuple("kæt")), PhonedWord(())
    assert [len(known) for known, _ in plans([word] * 9, [])] == [2, 4, 7, 9]
    assert [len(known) for known, _ in plans([silent, word, silent, word, word], [])] == [4, 5]
