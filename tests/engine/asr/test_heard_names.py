import pytest

from engine.asr.heard_names import HeardNames, NameCorrection, hotwords
from engine.text.names import Name
from tests.engine.asr.conftest import CASES

NAMES = (
    Name("Siobhan", "shi-VAWN"),
    Name("Niamh", "neev"),
    Name("Joaquin", "wah-KEEN"),
    Name("Nguyen", "win"),
    Name("Xochitl Ramirez", "SOH-cheel rah-MEER-ez"),
    Name("Qiu", "chyoh"),
    Name("Dvorak", "DVOR-zhahk"),
)


@pytest.fixture(scope="module")
def heard() -> HeardNames:
    return HeardNames(NAMES, "en")


@pytest.mark.parametrize(("text", "right"), CASES["sounds_like_a_name"])
def test_a_word_that_sounds_like_a_name_is_written_as_the_name(heard, text, right):
    assert heard.corrected(text) == right


@pytest.mark.parametrize("text", CASES["ordinary_words"])
def test_ordinary_words_and_right_names_stay(heard, text):
    assert heard.corrected(text) == text


def test_in_other_languages_only_words_with_a_capital_inside_a_sentence_may_be_names():
    heard = HeardNames((Name("Siobhan", "shi-VAWN"), Name("Yago", "", "es")), "es")
    assert heard.corrected("Ayer vi a Shivon.") == "Ayer vi a Siobhan."
    assert heard.corrected("Ayer vi a shivon.") == "Ayer vi a shivon."


def test_the_correction_follows_the_list_and_the_language():
    correction = NameCorrection()
    assert correction.corrected("I met Shivon.", (), "en") == "I met Shivon."
    assert correction.corrected("I met Shivon.", NAMES, "en") == "I met Siobhan."
    assert correction.corrected("I met Shivon.", NAMES[1:], "en") == "I met Shivon."
    assert correction.corrected("I met Shivon.", NAMES, "xx") == "I met Shivon."


def test_whisper_is_told_of_the_newest_names():
    assert hotwords(()) is None
    told = hotwords(tuple(Name(f"Name{number}") for number in range(100)))
    assert told is not None
    assert told.endswith("Name98, Name99")
    assert len(told.split(", ")) == 30
