"""How words sound that the dictionary has, and that it has not."""

# ruff: noqa: RUF001  IPA letters look like others on purpose

from engine.asr.wake.sounds import VOWELS, of_ipa, sounds, syllables

CONSONANTS = "B CH D DH F G HH JH K L M N NG P R S SH T TH V W Y Z ZH"


def test_a_word_of_the_dictionary_sounds_as_it_says() -> None:
    assert sounds(["hey"]) == {"hey": "HH EY"}


def test_a_word_it_lacks_is_pronounced_by_the_phonemizer() -> None:
    found = sounds(["rubato", "zaphod", "thingummy", "jeeves"])
    assert found["rubato"] == "R UW B AA T OW"
    assert syllables(found["thingummy"]) == 3
    for phones in found.values():
        assert set(phones.split()) <= {*CONSONANTS.split(), *VOWELS}


def test_long_symbols_go_before_short_ones_and_marks_are_passed_over() -> None:
    assert of_ipa("tʃˈɑːɹtɚ") == "CH AA R T ER"
    assert of_ipa("ˈ?ˌ") == ""
