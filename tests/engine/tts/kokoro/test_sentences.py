"""Where sentences end: never too late."""

from collections.abc import Sequence

from engine.text.phonemes import PhonedWord
from engine.tts.kokoro.sentences import next_words
from engine.tts.kokoro.symbols import LONGEST

Planned = list[tuple[tuple[PhonedWord, ...], bool]]


def plans(words: Sequence[PhonedWord]) -> Planned:
    """Every plan as a session asks for them."""
    made: Planned = []
    first = planned = 0
    while more := next_words(words[first:], planned, all_known=True):
        made.append(more)
        first, planned = (first + len(more[0]), 0) if more[1] else (first, len(more[0]))
    return made


def closed(made: Planned) -> list[tuple[PhonedWord, ...]]:
    return [words for words, whole in made if whole]


def length(words: Sequence[PhonedWord]) -> int:
    return sum(1 + sum(map(len, word.phones)) for word in words)


def test_a_long_sentence_ends_at_a_late_comma_or_at_a_word():
    word = PhonedWord(tuple("kæts"))  # five symbols with the gap
    long = [word] * 200
    (first, *_) = closed(plans(long))
    assert length(first[:-1]) <= LONGEST < length(first)
    assert first[-1].mark == ","
    with_comma = [word] * 60 + [PhonedWord(word.phones, ",")] + long
    assert len(closed(plans(with_comma))[0]) == 61
    early = [word] * 20 + [PhonedWord(word.phones, ",")] + long
    assert len(closed(plans(early))[0]) == len(first)


def test_the_first_plan_knows_two_words_with_a_sound():
    word, silent = PhonedWord(tuple("kæt")), PhonedWord(())
    assert [len(known) for known, _ in plans([word] * 9)] == [2, 4, 7, 9]
    assert [len(known) for known, _ in plans([silent, word, silent, word, word])] == [4, 5]
